// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <optional>
#include <utility>

#include "records/table.h"

namespace hyoka::records {

/// Reads the games of one file, piece by piece.
class Reader {
public:
    enum class Content : std::uint8_t { text, binary };
    explicit Reader(Content content = Content::text) : line_(content == Content::text ? 1 : 0) {}
    virtual ~Reader() = default;

    /// Takes whole games from the start of `bytes` into `table` and gives how many bytes they took. What is left
    /// belongs to a game whose end has not been seen; the caller comes back with it and more. `last`: no more follows,
    /// everything is taken.
    std::size_t read(std::string_view bytes, bool last, Table& table) {
        // No notation spends less than some bytes on a move; what is reserved too much is never touched.
        table.moves.reserve(table.moves.size() + bytes.size() / 6);
        std::size_t taken = 0;
        for (;;) {
            const std::string_view rest = bytes.substr(taken);
            record_.clear();
            refusal_.reset();
            const Found found = next(rest, last);
            if (found.size == 0) break;
            const std::string_view game = rest.substr(0, found.size);
            taken += found.size;
            if (found.is_game) add(table, game);
            line_ += newlines(game);
        }
        if (last && taken == bytes.size() && is_incomplete()) add(table, {});
        return taken;
    }

protected:
    struct Found {
        std::size_t size;  // bytes up to the game's end; 0: its end is not here, or nothing is
        bool is_game;      // false: only filling, such as blank lines
    };
    /// Reads what begins at the start of `bytes` into record_, or says in refusal_ why it can't be taken.
    virtual Found next(std::string_view bytes, bool last) = 0;

    /// Asked when everything has been read: whether more was promised. The reason is given by refuse().
    virtual bool is_incomplete() { return false; }

    /// `where` counts from the start of what next() was given; the first refusal of a game stands.
    void refuse(Fault fault, std::string reason, std::size_t where = 0) {
        if (!refusal_) refusal_ = Refusal{fault, std::move(reason), where};
    }

    Record record_;
    std::optional<Refusal> refusal_;

private:
    void add(Table& table, std::string_view game) {
        ++number_;
        // Blank lines before a game are not its beginning.
        const auto begin = std::min(game.find_first_not_of(" \t\r\n"), game.size());
        if (refusal_)
            table.refused.push_back({line_ + newlines(game.substr(0, std::max(begin, refusal_->where))), number_,
                                     static_cast<std::int32_t>(record_.moves.size()), refusal_->fault,
                                     std::move(refusal_->reason)});
        else
            table.add(record_, line_ + newlines(game.substr(0, begin)), number_);
    }
    std::int64_t newlines(std::string_view text) const {
        return line_ == 0 ? 0 : std::count(text.begin(), text.end(), '\n');
    }

    std::int64_t line_;  // of what comes next; 0 all along in a binary file
    std::int64_t number_ = 0;
};

}  // namespace hyoka::records
