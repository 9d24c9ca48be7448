// SPDX-License-Identifier: Apache-2.0
#include "mets/grow.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace hyoka::mets {
namespace {

constexpr int most_in_a_ring = 4 * farthest;
constexpr int points_in_a_word = 32;
constexpr int most_words = (most_in_a_ring + points_in_a_word - 1) / points_in_a_word;

using Counts = std::array<std::uint32_t, state_count>;

/// Where a node's number goes once it is known: to a child of another node.
struct Place {
    std::uint32_t node;
    std::uint32_t child;
};

/// The part of the tree that one task grows. Branches to nodes of other parts wait in `elsewhere`.
struct Part {
    std::vector<Node> nodes;
    std::uint32_t leaves = 0;
    struct Link {
        Place from;
        std::size_t part;
    };
    std::vector<Link> elsewhere;
    Branch root = nowhere;
};

/// Patterns that have reached a node, with the answers of the ring under way as two bits a point.
struct Bundle {
    std::vector<std::uint32_t> ids;
    std::vector<std::uint64_t> words;  // `width` each
    int width = 0;
};

struct Task {
    Bundle bundle;
    int ring = 1;
    bool gathered = false;           // whether the ring's answers are there
    std::vector<std::uint8_t> left;  // points of the ring that nobody has asked about
    std::vector<Counts> counts;      // by point of the ring
    std::size_t part = 0;
};

/// Sum of c log c, which is larger the smaller the entropy is. The counts are sorted first: the same ones in another
/// order are the same number.
double evenness(Counts counts) {
    std::sort(counts.begin(), counts.end());
    double sum = 0;
    for (const std::uint32_t count : counts)
        if (count > 1) sum += count * std::log(static_cast<double>(count));
    return sum;
}

class Grower {
public:
    Grower(const Patterns& patterns, Growing& how) : patterns_(patterns), how_(how) {
        for (int symmetry = 0; symmetry < 8; ++symmetry)
            for (std::size_t i = 0; i < questions.size(); ++i) {
                Offset to = questions[i];
                if (symmetry & 1) to.right = -to.right;
                if (symmetry & 2) to.down = -to.down;
                if (symmetry & 4) std::swap(to.down, to.right);
                turned_[static_cast<std::size_t>(symmetry)][i] = to;
            }
    }

    Tree grow(const Top& top) {
        std::vector<Task> ends(top.ends);
        const auto symmetries = static_cast<std::size_t>(patterns_.symmetries);
        bool any = false;
        for (std::size_t board = 0; board < patterns_.points.size(); ++board) {
            if (patterns_.points[board] < 0) continue;
            any = true;
            Branch end = top.root;
            while (is_node(end)) {
                const Node& node = top.nodes[end];
                const auto question = static_cast<std::size_t>(node.question - question_count);
                end = node.children[answer_to(patterns_.answers[board], question)];
            }
            for (std::size_t symmetry = 0; symmetry < symmetries; ++symmetry)
                ends[leaf_number(end)].bundle.ids.push_back(static_cast<std::uint32_t>(board * symmetries + symmetry));
        }
        if (!any) return {};
        plant(top, ends);
        {
            std::vector<std::jthread> helpers;
            for (unsigned i = 1; i < how_.threads; ++i) helpers.emplace_back([this] { work(); });
            work();
        }
        if (failure_) std::rethrow_exception(failure_);
        return how_.stop ? Tree() : assembled();
    }

private:
    /// The top is a part of its own, each of its ends a task; where no pattern came there is nothing.
    void plant(const Top& top, std::vector<Task>& ends) {
        if (top.nodes.empty()) {
            add(std::move(ends[0]));
            return;
        }
        parts_.push_back(std::make_unique<Part>());
        parts_[0]->root = top.root;
        for (std::uint32_t i = 0; i < top.nodes.size(); ++i) {
            Node node = top.nodes[i];
            for (std::uint32_t child = 0; child < state_count; ++child) {
                if (!is_leaf(node.children[child])) continue;
                Task& end = ends[leaf_number(node.children[child])];
                node.children[child] = nowhere;
                if (!end.bundle.ids.empty()) parts_[0]->elsewhere.push_back({Place{i, child}, add(std::move(end))});
            }
            parts_[0]->nodes.push_back(node);
        }
    }
    // Idle threads take tasks; the last one to find none, while nobody works, ends it all.
    std::size_t add(Task task) {
        const std::scoped_lock lock(mutex_);
        task.part = parts_.size();
        parts_.push_back(std::make_unique<Part>());
        tasks_.push_back(std::move(task));
        waiting_.notify_one();
        return parts_.size() - 1;
    }
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            waiting_.wait(lock, [&] { return !tasks_.empty() || working_ == 0; });
            if (tasks_.empty()) {
                waiting_.notify_all();
                return;
            }
            Task task = std::move(tasks_.back());
            tasks_.pop_back();
            Part& part = *parts_[task.part];
            ++working_;
            lock.unlock();
            try {
                start(task, part);
            } catch (...) {
                how_.stop = true;
                lock.lock();
                failure_ = std::current_exception();
                lock.unlock();
            }
            task = {};
            lock.lock();
            if (--working_ == 0) waiting_.notify_all();
        }
    }

    void start(Task& task, Part& part) {
        Bundle& bundle = task.bundle;
        if (!task.gathered) return enter_ring(bundle.ids, task.ring, {}, part);
        std::array<std::uint8_t, most_in_a_ring> left;
        std::copy(task.left.begin(), task.left.end(), left.begin());
        std::array<Counts, most_in_a_ring> counts;
        std::copy(task.counts.begin(), task.counts.end(), counts.begin());
        const View view{bundle.ids, bundle.words.data()};
        split_by_width(bundle.width, view, task.ring, left, task.left.size(), counts, {}, part);
    }

    /// Some patterns of a bundle, side by side.
    struct View {
        std::span<std::uint32_t> ids;
        std::uint64_t* words;
    };
    using Left = std::array<std::uint8_t, most_in_a_ring>;
    using RingCounts = std::array<Counts, most_in_a_ring>;

    static int width_of(int ring) { return (4 * ring + points_in_a_word - 1) / points_in_a_word; }

    /// Reads the answers of the next ring, and goes on with them. No place: the part's root.
    void enter_ring(std::span<std::uint32_t> ids, int ring, std::optional<Place> place, Part& part) {
        if (how_.stop.load(std::memory_order_relaxed)) return;
        if (ids.size() < how_.threshold || ring > farthest) return put(add_leaf(ids.size(), part), place, part);
        const int points = 4 * ring;
        const auto width = static_cast<std::size_t>(width_of(ring));
        std::vector<std::uint64_t> words(ids.size() * width);
        RingCounts counts{};
        for (std::size_t i = 0; i < ids.size(); ++i) gather(ids[i], ring, &words[i * width]);
        count(words.data(), ids.size(), static_cast<int>(width), points, counts);
        Left left;
        for (int point = 0; point < points; ++point)
            left[static_cast<std::size_t>(point)] = static_cast<std::uint8_t>(point);
        split_by_width(static_cast<int>(width), {ids, words.data()}, ring, left, static_cast<std::size_t>(points),
                       counts, place, part);
    }

    void gather(std::uint32_t id, int ring, std::uint64_t* words) const {
        const auto symmetries = static_cast<std::uint32_t>(patterns_.symmetries);
        const std::size_t board = id / symmetries;
        const auto& turned = turned_[id % symmetries];
        const std::uint8_t* cells = patterns_.boards.data() + board * patterns_.board_bytes();
        const int side = patterns_.side;
        const int point = patterns_.points[board];
        const int row = point / side;
        const int column = point % side;
        const unsigned flip = patterns_.movers[board];
        const int first = points_within(ring - 1);
        for (int i = 0; i < 4 * ring; ++i) {
            const Offset to = turned[static_cast<std::size_t>(first + i)];
            const int r = row + to.down;
            const int c = column + to.right;
            unsigned state = outside;
            if (static_cast<unsigned>(r) < static_cast<unsigned>(side) &&
                static_cast<unsigned>(c) < static_cast<unsigned>(side)) {
                const auto cell = static_cast<unsigned>(r * side + c);
                state = (cells[cell / 4] >> (2 * (cell % 4))) & 3u;
                state ^= state < 2 ? flip : 0;
            }
            words[i / points_in_a_word] |= static_cast<std::uint64_t>(state) << (2 * (i % points_in_a_word));
        }
    }

    static unsigned state_of(const std::uint64_t* words, unsigned point) {
        return (words[point / points_in_a_word] >> (2 * (point % points_in_a_word))) & 3u;
    }
    /// Adds up the answers to all points of a ring.
    static void count(const std::uint64_t* words, std::size_t size, int width, int points, RingCounts& counts) {
        for (std::size_t i = 0; i < size; ++i)
            for (int point = 0; point < points; ++point)
                ++counts[static_cast<std::size_t>(point)]
                        [state_of(words + i * static_cast<std::size_t>(width), static_cast<unsigned>(point))];
    }
    /// The same for some points.
    template <int width>
    static void count_left(const std::uint64_t* words, std::size_t size, const Left& left, std::size_t number,
                           RingCounts& counts) {
        for (std::size_t k = 0; k < number; ++k) counts[left[k]] = {};
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t k = 0; k < number; ++k) ++counts[left[k]][state_of(words + i * width, left[k])];
    }

    void split_by_width(int width, View view, int ring, Left& left, std::size_t number, RingCounts& counts,
                        std::optional<Place> place, Part& part) {
        static_assert(most_words == 3);
        if (width == 1) return split<1>(view, ring, left, number, counts, place, part);
        if (width == 2) return split<2>(view, ring, left, number, counts, place, part);
        return split<3>(view, ring, left, number, counts, place, part);
    }

    /// Asks about one point after another until the patterns part, then goes on with each group.
    template <int width>
    void split(View view, int ring, Left& left, std::size_t number, RingCounts& counts, std::optional<Place> place,
               Part& part) {
        for (;;) {
            if (how_.stop.load(std::memory_order_relaxed)) return;
            if (number == 0) return enter_ring(view.ids, ring + 1, place, part);
            const std::size_t chosen = most_alike(left, number, counts);
            const unsigned point = left[chosen];
            std::copy(left.begin() + static_cast<std::ptrdiff_t>(chosen) + 1,
                      left.begin() + static_cast<std::ptrdiff_t>(number),
                      left.begin() + static_cast<std::ptrdiff_t>(chosen));
            --number;
            const auto node = static_cast<std::uint32_t>(part.nodes.size());
            part.nodes.push_back(
                {.children = {nowhere, nowhere, nowhere, nowhere},
                 .question = static_cast<std::uint16_t>(points_within(ring - 1) + static_cast<int>(point))});
            put(node, place, part);
            const Counts sizes = counts[point];
            const auto all = std::find(sizes.begin(), sizes.end(), static_cast<std::uint32_t>(view.ids.size()));
            if (all == sizes.end()) return part_ways<width>(view, ring, point, sizes, left, number, counts, node, part);
            place = Place{node, static_cast<std::uint32_t>(all - sizes.begin())};
        }
    }

    static std::size_t most_alike(const Left& left, std::size_t number, const RingCounts& counts) {
        std::size_t best = 0;
        double most = -1;
        for (std::size_t k = 0; k < number; ++k)
            if (const double even = evenness(counts[left[k]]); even > most) {
                most = even;
                best = k;
            }
        return best;
    }

    template <int width>
    void part_ways(View view, int ring, unsigned point, const Counts& sizes, const Left& left, std::size_t number,
                   const RingCounts& counts, std::uint32_t node, Part& part) {
        std::array<std::size_t, state_count + 1> begins{};
        for (std::size_t state = 0; state < state_count; ++state) begins[state + 1] = begins[state] + sizes[state];
        sort_by_answer<width>(view, point, begins);
        const auto largest = static_cast<std::size_t>(std::max_element(sizes.begin(), sizes.end()) - sizes.begin());
        RingCounts rest = counts;  // becomes those of the largest group, which need not be counted
        for (std::size_t turn = 0; turn <= state_count; ++turn) {
            // The largest group comes last, when all others have been taken off its counts.
            const std::size_t state = turn == state_count ? largest : turn;
            if (sizes[state] == 0 || (turn < state_count && state == largest)) continue;
            const View group{view.ids.subspan(begins[state], sizes[state]), view.words + begins[state] * width};
            const Place place{node, static_cast<std::uint32_t>(state)};
            RingCounts own;
            if (turn < state_count) {
                count_left<width>(group.words, group.ids.size(), left, number, own);
                for (std::size_t k = 0; k < number; ++k)
                    for (std::size_t s = 0; s < state_count; ++s) rest[left[k]][s] -= own[left[k]][s];
            }
            RingCounts& known = turn < state_count ? own : rest;
            if (group.ids.size() < how_.threshold) {
                put(add_leaf(group.ids.size(), part), place, part);
            } else if (group.ids.size() >= how_.worth_a_task && how_.threads > 1) {
                hand_over<width>(group, ring, left, number, known, place, part);
            } else {
                Left own_left = left;
                split<width>(group, ring, own_left, number, known, place, part);
            }
        }
    }

    template <int width>
    static void sort_by_answer(View view, unsigned point, const std::array<std::size_t, state_count + 1>& begins) {
        std::vector<std::uint32_t> ids(view.ids.begin(), view.ids.end());
        std::vector<std::uint64_t> words(view.words, view.words + view.ids.size() * width);
        std::array<std::size_t, state_count> next;
        std::copy_n(begins.begin(), state_count, next.begin());
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const std::size_t to = next[state_of(&words[i * width], point)]++;
            view.ids[to] = ids[i];
            for (std::size_t w = 0; w < width; ++w) view.words[to * width + w] = words[i * width + w];
        }
    }

    /// Lets an idle thread grow a group.
    template <int width>
    void hand_over(View group, int ring, const Left& left, std::size_t number, const RingCounts& counts, Place place,
                   Part& part) {
        Task task;
        task.bundle.ids.assign(group.ids.begin(), group.ids.end());
        task.bundle.words.assign(group.words, group.words + group.ids.size() * width);
        task.bundle.width = width;
        task.ring = ring;
        task.gathered = true;
        task.left.assign(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(number));
        task.counts.assign(counts.begin(), counts.begin() + 4 * ring);
        part.elsewhere.push_back({place, add(std::move(task))});
    }

    Branch add_leaf(std::size_t patterns, Part& part) {
        how_.done.fetch_add(patterns, std::memory_order_relaxed);
        return leaf_bit | part.leaves++;
    }
    static void put(Branch branch, const std::optional<Place>& place, Part& part) {
        (place ? part.nodes[place->node].children[place->child] : part.root) = branch;
    }

    /// All parts as one tree, its nodes and leaves numbered as a walk meets them: the same however tasks went.
    Tree assembled() const {
        std::vector<std::vector<std::array<std::int64_t, state_count>>> links(parts_.size());
        for (std::size_t p = 0; p < parts_.size(); ++p) {
            links[p].assign(parts_[p]->nodes.size(), {-1, -1, -1, -1});
            for (const auto& link : parts_[p]->elsewhere)
                links[p][link.from.node][link.from.child] = static_cast<std::int64_t>(link.part);
        }
        struct Step {
            std::size_t part;
            Branch branch;
            std::optional<Place> to;  // in the assembled tree
        };
        std::vector<Node> nodes;
        std::uint32_t leaves = 0;
        Branch root = nowhere;
        std::vector<Step> open = {{0, parts_[0]->root, std::nullopt}};
        while (!open.empty()) {
            const Step step = open.back();
            open.pop_back();
            Branch& to = step.to ? nodes[step.to->node].children[step.to->child] : root;
            if (is_leaf(step.branch)) {
                to = leaf_bit | leaves++;
                continue;
            }
            if (!is_node(step.branch)) continue;
            const auto number = static_cast<std::uint32_t>(nodes.size());
            to = number;
            const Node& node = parts_[step.part]->nodes[step.branch];
            nodes.push_back({.children = {nowhere, nowhere, nowhere, nowhere}, .question = node.question});
            for (std::uint32_t child = state_count; child-- > 0;) {
                const std::int64_t part = links[step.part][step.branch][child];
                const Place place{number, child};
                if (part >= 0)
                    open.push_back(
                        {static_cast<std::size_t>(part), parts_[static_cast<std::size_t>(part)]->root, place});
                else
                    open.push_back({step.part, node.children[child], place});
            }
        }
        return {root, std::move(nodes), std::vector<Leaf>(leaves)};
    }

    const Patterns& patterns_;
    Growing& how_;
    std::array<std::array<Offset, question_count>, 8> turned_;

    std::mutex mutex_;
    std::condition_variable waiting_;
    std::deque<Task> tasks_;
    std::vector<std::unique_ptr<Part>> parts_;
    int working_ = 0;
    std::exception_ptr failure_;
};

}  // namespace

Tree grow(const Patterns& patterns, Growing& how) { return grow(patterns, {}, how); }
Tree grow(const Patterns& patterns, const Top& top, Growing& how) { return Grower(patterns, how).grow(top); }

}  // namespace hyoka::mets
