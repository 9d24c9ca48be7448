// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "game.h"

/// Tables of settings: name, range, default, effect and help text of each. Specs, engine options and help all come from
/// these tables.
///
/// Conditions are texts: `widening` (on or set), `formula=puct`, `not evaluator`, and alternatives joined by ` or `.
namespace hyoka::search {

/// Value of a setting; monostate: unset.
using SettingValue = std::variant<std::monostate, bool, std::uint64_t, double, std::string>;

enum class SettingKind : std::uint8_t { integer, number, flag, choice, file, object };

/// A default that holds under a condition; empty: always.
struct ConditionalDefault {
    std::string condition;
    SettingValue value;
};

struct Setting {
    std::string_view name;
    SettingKind kind;
    std::string_view help;
    double minimum = 0;  // of numbers
    double maximum = 0;
    std::vector<std::string_view> choices{};       // of files: the kinds of models; no header means the first
    SettingValue default_value{};                  // monostate: unset, or `default_if` has it
    std::vector<ConditionalDefault> default_if{};  // the last that holds counts
    std::string_view same_as{};                    // the default is the value of this setting
    std::vector<std::string> needs{};              // conditions, all of which must hold for it to have an effect
    bool is_limit = false;                         // 0: no limit
    std::uint64_t default_limit = 0;               // if no limit is set
};

/// Files and Python objects that a search has, by name: `FILE`, or the kind of object.
using Inputs = std::map<std::string, std::string>;

/// The settings of `Options`, each with the field it stands for. Files and Python objects have none: they are passed to
/// a search as models.
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
    SettingTable& choice(std::string_view name, Field field, std::vector<std::string_view> choices,
                         std::string_view help) {
        return add({name, SettingKind::choice, help, 0, 0, std::move(choices)}, field);
    }
    SettingTable& file(std::string_view name, std::vector<std::string_view> kinds, std::string_view help,
                       const SettingValue& default_value = {}) {
        entries_.push_back({{name, SettingKind::file, help, 0, 0, std::move(kinds), default_value}, {}, {}});
        return *this;
    }
    /// A Python object: it is no setting, but may occur in conditions and have some.
    SettingTable& object(std::string_view name) {
        entries_.push_back({{name, SettingKind::object, {}}, {}, {}});
        return *this;
    }

    /// These settings are limits; a search without any has this one.
    SettingTable& limits(std::initializer_list<std::string_view> names, std::string_view default_name = {},
                         std::uint64_t default_limit = 0) {
        for (const auto name : names) named(name).setting.is_limit = true;
        if (default_limit) named(default_name).setting.default_limit = default_limit;
        return *this;
    }
    SettingTable& default_if(std::string_view condition, std::string_view name, const SettingValue& value) {
        named(name).setting.default_if.push_back({checked(condition), value});
        return *this;
    }
    /// The same for every setting in which a preset differs from the other defaults.
    SettingTable& default_if(std::string_view condition, const Options& preset) {
        for (Entry& entry : entries_)
            if (entry.get && entry.get(preset) != entry.setting.default_value)
                entry.setting.default_if.push_back({checked(condition), entry.get(preset)});
        return *this;
    }
    SettingTable& same_as(std::string_view other, std::initializer_list<std::string_view> names) {
        for (const auto name : names) named(name).setting.same_as = named(other).setting.name;
        return *this;
    }
    SettingTable& needs(std::string_view condition, std::initializer_list<std::string_view> names) {
        for (const auto name : names) named(name).setting.needs.push_back(checked(condition));
        return *this;
    }

    std::vector<Setting> all() const {
        std::vector<Setting> settings;
        for (const Entry& entry : entries_)
            if (entry.setting.kind != SettingKind::object) settings.push_back(entry.setting);
        return settings;
    }
    /// Options with the chosen settings; the others have their defaults beside these. Pre: the values are allowed;
    /// throws NotationError if one is not even of its setting's kind.
    Options with(const std::map<std::string, SettingValue>& chosen) const {
        Options options;
        for (const auto& [name, value] : chosen) {
            const Entry& entry = named(name);
            if (!entry.set) throw NotationError("'" + name + "' is a file: pass it as a model");
            entry.set(options, value);
        }
        for (const Entry& entry : entries_)
            if (!entry.setting.default_if.empty() && !chosen.contains(std::string(entry.setting.name)))
                entry.set(options, default_of(options, entry.setting.name));
        return options;
    }
    /// The default of a setting beside the others.
    SettingValue default_of(const Options& options, std::string_view name) const {
        const Setting& setting = named(name).setting;
        SettingValue value = setting.default_value;
        for (const ConditionalDefault& each : setting.default_if)
            if (each.condition.empty() || holds(options, {}, each.condition)) value = each.value;
        return setting.is_limit && value == SettingValue() ? SettingValue(std::uint64_t{0}) : value;
    }
    /// The settings and objects that have no effect beside the others, each with the reason.
    std::map<std::string, std::string> ineffective(const Options& options, const Inputs& inputs) const {
        std::map<std::string, std::string> reasons;
        for (const Entry& entry : entries_)
            for (const std::string& condition : entry.setting.needs)
                if (!holds(options, inputs, condition))
                    reasons.try_emplace(std::string(entry.setting.name), reason_against(condition));
        return reasons;
    }
    SettingValue get(const Options& options, std::string_view name) const {
        const Entry& entry = named(name);
        return entry.get ? entry.get(options) : SettingValue();
    }

private:
    struct Entry {
        Setting setting;
        std::function<SettingValue(const Options&)> get;
        std::function<void(Options&, const SettingValue&)> set;
    };

    /// One alternative of a condition.
    struct Test {
        explicit Test(std::string_view text) : negated(text.starts_with("not ")) {
            if (negated) text.remove_prefix(4);
            const auto equals = text.find('=');
            name = text.substr(0, equals);
            if (equals != text.npos) value = text.substr(equals + 1);
        }
        bool negated;
        std::string_view name;
        std::string_view value;
    };
    static std::vector<Test> tests_of(std::string_view condition) {
        constexpr std::string_view separator = " or ";
        std::vector<Test> tests;
        for (auto end = condition.find(separator); end != condition.npos; end = condition.find(separator)) {
            tests.emplace_back(condition.substr(0, end));
            condition.remove_prefix(end + separator.size());
        }
        tests.emplace_back(condition);
        return tests;
    }
    /// Throws NotationError if a condition names what is not in the table.
    std::string checked(std::string_view condition) const {
        if (!condition.empty())
            for (const Test& test : tests_of(condition)) named(test.name);
        return std::string(condition);
    }
    bool holds(const Options& options, const Inputs& inputs, std::string_view condition) const {
        return std::ranges::any_of(tests_of(condition), [&](const Test& test) {
            return test.negated != has(options, inputs, named(test.name), test.value);
        });
    }
    static bool has(const Options& options, const Inputs& inputs, const Entry& entry, std::string_view expected) {
        if (!entry.get) {
            const auto input = inputs.find(std::string(entry.setting.name));
            return input != inputs.end() && (expected.empty() || input->second == expected);
        }
        const SettingValue value = entry.get(options);
        if (const auto* text = std::get_if<std::string>(&value)) return *text == expected;
        if (const auto* flag = std::get_if<bool>(&value)) return *flag;
        // Limits and numbers with a default are off at 0; other numbers are off if unset.
        const bool zero_is_off = entry.setting.is_limit || entry.setting.default_value != SettingValue();
        if (const auto* count = std::get_if<std::uint64_t>(&value))
            return expected.empty() ? !zero_is_off || *count != 0 : std::to_string(*count) == expected;
        if (const auto* number = std::get_if<double>(&value)) return !zero_is_off || *number != 0;
        return false;
    }
    /// Why a condition does not hold: `without widening=on`, `with plain=on`.
    std::string reason_against(std::string_view condition) const {
        std::string with, without;
        for (const Test& test : tests_of(condition)) {
            const SettingKind kind = named(test.name).setting.kind;
            std::string& part = test.negated ? with : without;
            part += !part.empty() ? " or " : test.negated ? "with " : "without ";
            part.append(test.name).append("=");
            if (!test.value.empty())
                part += test.value;
            else
                part += kind == SettingKind::flag ? "on" : kind == SettingKind::file ? "FILE" : "…";
        }
        return with + (with.empty() || without.empty() ? "" : ", ") + without;
    }

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
        entries_.back().setting.default_value = entries_.back().get(Options());
        return *this;
    }
    const Entry& named(std::string_view name) const {
        for (const Entry& entry : entries_)
            if (entry.setting.name == name) return entry;
        throw NotationError("no setting '" + std::string(name) + "'");
    }
    Entry& named(std::string_view name) { return const_cast<Entry&>(std::as_const(*this).named(name)); }

    std::vector<Entry> entries_;
};

}  // namespace hyoka::search
