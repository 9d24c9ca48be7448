// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "game.h"

/// Tables of settings: name, range, default and help text of each. Specs,
/// engine options and help all come from these tables.
namespace hyoka::search {

/// Value of a setting; monostate: unset.
using SettingValue = std::variant<std::monostate, bool, std::uint64_t, double, std::string>;

enum class SettingKind : std::uint8_t { integer, number, flag, choice, file };

struct Setting {
    std::string_view name;
    SettingKind kind;
    std::string_view help;
    double minimum = 0;  // of numbers
    double maximum = 0;
    std::vector<std::string_view> choices{};
};

/// The settings of `Options`, each with the field it stands for. Files have none: what they hold is given to a search
/// as a model.
template <class Options>
class SettingTable {
public:
    /// A whole number, 0 or more.
    template <class Field>
    SettingTable& count(std::string_view name, Field field, std::string_view help, double maximum = 1e15,
                        double minimum = 0) {
        return add({name, SettingKind::integer, help, minimum, maximum}, field);
    }
    template <class Field>
    SettingTable& number(std::string_view name, Field field, double minimum, double maximum, std::string_view help) {
        return add({name, SettingKind::number, help, minimum, maximum}, field);
    }
    template <class Field>
    SettingTable& flag(std::string_view name, Field field, std::string_view help) {
        return add({name, SettingKind::flag, help}, field);
    }
    template <class Field>
    SettingTable& choice(std::string_view name, Field field, std::initializer_list<std::string_view> choices,
                         std::string_view help) {
        return add({name, SettingKind::choice, help, 0, 0, choices}, field);
    }
    SettingTable& file(std::string_view name, std::string_view help) {
        entries_.push_back({{name, SettingKind::file, help}, {}, {}});
        return *this;
    }

    std::vector<Setting> all() const {
        std::vector<Setting> settings;
        for (const Entry& entry : entries_) settings.push_back(entry.setting);
        return settings;
    }
    SettingValue get(const Options& options, std::string_view name) const {
        const Entry& entry = named(name);
        return entry.get ? entry.get(options) : SettingValue();
    }
    /// Pre: the value is one that the setting may have; throws NotationError if it is not even of its kind.
    void set(Options& options, std::string_view name, const SettingValue& value) const {
        const Entry& entry = named(name);
        if (!entry.set) throw NotationError("'" + std::string(name) + "' is a file: pass it as a model");
        entry.set(options, value);
    }

private:
    struct Entry {
        Setting setting;
        std::function<SettingValue(const Options&)> get;
        std::function<void(Options&, const SettingValue&)> set;
    };

    template <class T>
    struct Plain {
        using type = T;
    };
    template <class T>
    struct Plain<std::optional<T>> {
        using type = T;
    };

    template <class T>
    static SettingValue as_value(const T& value) {
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
            return value;
        else if constexpr (std::is_floating_point_v<T>)
            return static_cast<double>(value);
        else
            return static_cast<std::uint64_t>(value);
    }
    template <class T>
    static T from_value(std::string_view name, const SettingValue& value) {
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) {
            if (const auto* held = std::get_if<T>(&value)) return *held;
        } else {
            if (const auto* held = std::get_if<std::uint64_t>(&value)) return static_cast<T>(*held);
            if constexpr (std::is_floating_point_v<T>)
                if (const auto* held = std::get_if<double>(&value)) return static_cast<T>(*held);
        }
        throw NotationError("'" + std::string(name) + "' has another type");
    }

    /// `field` is a pointer to a member, or a function from options to a reference.
    template <class Field>
    SettingTable& add(Setting setting, Field field) {
        using Held = std::remove_cvref_t<std::invoke_result_t<Field, Options&>>;
        using T = typename Plain<Held>::type;
        entries_.push_back({setting,
                            [field](const Options& options) -> SettingValue {
                                const Held& held = std::invoke(field, const_cast<Options&>(options));
                                if constexpr (std::is_same_v<Held, T>)
                                    return as_value(held);
                                else
                                    return held ? as_value(*held) : SettingValue();
                            },
                            [field, name = setting.name](Options& options, const SettingValue& value) {
                                if constexpr (!std::is_same_v<Held, T>)
                                    if (std::holds_alternative<std::monostate>(value)) {
                                        std::invoke(field, options).reset();
                                        return;
                                    }
                                std::invoke(field, options) = from_value<T>(name, value);
                            }});
        return *this;
    }
    const Entry& named(std::string_view name) const {
        for (const Entry& entry : entries_)
            if (entry.setting.name == name) return entry;
        throw NotationError("no setting '" + std::string(name) + "'");
    }

    std::vector<Entry> entries_;
};

}  // namespace hyoka::search
