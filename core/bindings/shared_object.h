// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace nb = nanobind;

namespace hyoka::bindings {

/// A Python object that threads without the interpreter's lock may pass around: only its last owner needs the lock.
class SharedObject {
public:
    explicit SharedObject(nb::object object)
        : object_(new nb::object(std::move(object)), [](nb::object* held) {
              nb::gil_scoped_acquire acquired;
              delete held;
          }) {}
    /// Pre: the lock is held.
    const nb::object& get() const { return *object_; }

private:
    std::shared_ptr<nb::object> object_;
};

}  // namespace hyoka::bindings
