// SPDX-License-Identifier: Apache-2.0
#include "records/inflate.h"

#include <array>
#include <cstdint>
#include <span>

#include "records/text.h"

namespace hyoka::records {

namespace {

/// Bits of a deflate stream, lowest first. Past the end all are 0, and `ended` says so.
class Bits {
public:
    explicit Bits(std::string_view bytes) : bytes_(bytes) {}
    unsigned take(int count) {
        while (held_ < count) {
            if (at_ < bytes_.size())
                word_ |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes_[at_])) << held_;
            else
                ended_ = true;
            ++at_;
            held_ += 8;
        }
        const unsigned bits = word_ & ((1U << count) - 1);
        word_ >>= count;
        held_ -= count;
        return bits;
    }
    /// Goes to the next whole byte.
    void align() { take(held_ % 8); }
    bool ended() const { return ended_; }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
    std::uint32_t word_ = 0;
    int held_ = 0;
    bool ended_ = false;
};

constexpr int longest_code = 15;

/// Canonical Huffman codes by the lengths of their symbols.
class Codes {
public:
    /// False if there are more codes than lengths allow.
    bool set(std::span<const std::uint8_t> lengths) {
        counts_.fill(0);
        for (const std::uint8_t length : lengths) ++counts_[length];
        counts_[0] = 0;
        int left = 1;
        for (std::size_t length = 1; length <= longest_code; ++length) {
            left = 2 * left - counts_[length];
            if (left < 0) return false;
        }
        std::array<int, longest_code + 1> next{};
        for (std::size_t length = 1; length < longest_code; ++length) next[length + 1] = next[length] + counts_[length];
        for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
            if (lengths[symbol]) symbols_[static_cast<std::size_t>(next[lengths[symbol]]++)] = static_cast<int>(symbol);
        return true;
    }
    /// The next symbol; -1 if the bits are no code.
    int take(Bits& bits) const {
        int code = 0;
        int first = 0;
        int index = 0;
        for (std::size_t length = 1; length <= longest_code; ++length) {
            code |= static_cast<int>(bits.take(1));
            const int count = counts_[length];
            if (code - first < count) return symbols_[static_cast<std::size_t>(index + code - first)];
            index += count;
            first = 2 * (first + count);
            code *= 2;
        }
        return -1;
    }

private:
    std::array<int, longest_code + 1> counts_{};
    std::array<int, 288> symbols_{};
};

constexpr int end_of_block = 256;
constexpr std::array<std::uint16_t, 29> length_bases = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                                        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
constexpr std::array<std::uint8_t, 29> length_bits = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                                      2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
constexpr std::array<std::uint16_t, 30> distance_bases = {
    1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
    193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
constexpr std::array<std::uint8_t, 19> order_of_lengths = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                           11, 4,  12, 3, 13, 2, 14, 1, 15};

bool read_codes(Bits& bits, Codes& literals, Codes& distances) {
    const std::size_t literal_count = bits.take(5) + 257;
    const std::size_t distance_count = bits.take(5) + 1;
    const std::size_t length_count = bits.take(4) + 4;
    if (literal_count > 286 || distance_count > 30) return false;
    std::array<std::uint8_t, 320> lengths{};
    for (std::size_t i = 0; i < length_count; ++i)
        lengths[order_of_lengths[i]] = static_cast<std::uint8_t>(bits.take(3));
    Codes codes;
    if (!codes.set(std::span(lengths).first(19))) return false;
    lengths.fill(0);
    for (std::size_t i = 0; i < literal_count + distance_count;) {
        const int symbol = codes.take(bits);
        if (symbol < 0 || bits.ended()) return false;
        if (symbol < 16) {
            lengths[i++] = static_cast<std::uint8_t>(symbol);
            continue;
        }
        if (symbol == 16 && i == 0) return false;
        const std::uint8_t length = symbol == 16 ? lengths[i - 1] : std::uint8_t{0};
        std::size_t times = symbol == 16 ? 3 + bits.take(2) : symbol == 17 ? 3 + bits.take(3) : 11 + bits.take(7);
        if (i + times > literal_count + distance_count) return false;
        while (times-- > 0) lengths[i++] = length;
    }
    return literals.set(std::span(lengths).first(literal_count)) &&
           distances.set(std::span(lengths).subspan(literal_count, distance_count));
}

void fixed_codes(Codes& literals, Codes& distances) {
    std::array<std::uint8_t, 288> lengths{};
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    literals.set(lengths);
    std::array<std::uint8_t, 30> fives{};
    fives.fill(5);
    distances.set(fives);
}

bool inflate_block(Bits& bits, const Codes& literals, const Codes& distances, std::string& out, std::size_t most) {
    while (!bits.ended()) {
        const int symbol = literals.take(bits);
        if (symbol == end_of_block) return true;
        if (symbol < 0 || out.size() >= most) return false;
        if (symbol < end_of_block) {
            out += static_cast<char>(symbol);
            continue;
        }
        const auto which = static_cast<std::size_t>(symbol - end_of_block - 1);
        if (which >= length_bases.size()) return false;
        std::size_t length = length_bases[which] + bits.take(length_bits[which]);
        const int code = distances.take(bits);
        if (code < 0 || code >= static_cast<int>(distance_bases.size())) return false;
        const int extra = code < 4 ? 0 : code / 2 - 1;
        const std::size_t distance = distance_bases[static_cast<std::size_t>(code)] + bits.take(extra);
        if (distance > out.size() || out.size() + length > most) return false;
        while (length-- > 0) out += out[out.size() - distance];
    }
    return false;
}

bool copy_stored(Bits& bits, std::string& out, std::size_t most) {
    bits.align();
    std::size_t size = bits.take(16);
    if ((bits.take(16) ^ size) != 0xffff || out.size() + size > most) return false;
    while (size-- > 0 && !bits.ended()) out += static_cast<char>(bits.take(8));
    return !bits.ended();
}

}  // namespace

std::optional<std::string> base64_bytes(std::string_view text) {
    std::string bytes;
    std::uint32_t word = 0;
    int held = 0;
    std::size_t padding = 0;
    for (const char c : text) {
        if (is_blank(c)) continue;
        if (c == '=' && ++padding <= 2) continue;
        const int value = c >= 'A' && c <= 'Z'   ? c - 'A'
                          : c >= 'a' && c <= 'z' ? c - 'a' + 26
                          : is_digit(c)          ? c - '0' + 52
                          : c == '+'             ? 62
                          : c == '/'             ? 63
                                                 : -1;
        if (value < 0 || padding > 0) return std::nullopt;
        word = word << 6 | static_cast<std::uint32_t>(value);
        held += 6;
        if (held < 8) continue;
        held -= 8;
        bytes += static_cast<char>(word >> held & 0xff);
    }
    return bytes;
}

std::optional<std::string> gunzip(std::string_view packed, std::size_t most) {
    constexpr std::size_t header_size = 10;
    constexpr std::size_t trailer_size = 8;
    if (packed.size() < header_size + trailer_size || !packed.starts_with("\x1f\x8b\x08") || packed[3] != 0)
        return std::nullopt;
    Bits bits(packed.substr(header_size, packed.size() - header_size - trailer_size));
    std::string out;
    for (bool last = false; !last;) {
        last = bits.take(1) != 0;
        const unsigned kind = bits.take(2);
        if (kind == 0) {
            if (!copy_stored(bits, out, most)) return std::nullopt;
            continue;
        }
        Codes literals;
        Codes distances;
        if (kind == 3 || (kind == 2 && !read_codes(bits, literals, distances))) return std::nullopt;
        if (kind == 1) fixed_codes(literals, distances);
        if (!inflate_block(bits, literals, distances, out, most)) return std::nullopt;
    }
    std::uint32_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
        size |= static_cast<std::uint32_t>(static_cast<unsigned char>(packed[packed.size() - 4 + i])) << (8 * i);
    return size == out.size() ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace hyoka::records
