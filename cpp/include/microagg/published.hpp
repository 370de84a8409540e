// Groups with numbers and categories that change millions of times a second, and what they cost
// when they are published: the SSE of the numbers and the cells of categories that change.
//
// Of each group and attribute a few figures are kept that tell in O(1) what a record costs that
// comes, goes or takes another's place:
// - most frequent code: its count, and how many codes have it. They are counted again only when the
//   last of them loses a record;
// - median level: the levels in the middle. The sum of distances to the median grows by the
// distance
//   to the middle, and falls by that to the middle of the others;
// - taxonomy: by record, the sum of the distances to its group; here a change takes O(members).
#pragma once

#include <algorithm>
#include <cstdlib>
#include <span>
#include <utility>
#include <vector>

#include "microagg/codes.hpp"
#include "microagg/live_groups.hpp"

namespace microagg {

class PublishedGroups : private LiveGroups {
 public:
  // The points of the block are the numbers.
  PublishedGroups(const Block& block, const Codes& codes) : LiveGroups(block) {
    MICROAGG_ASSERT(codes.n == block.points.n && codes.hold());
    const std::int64_t slots = 2 * k() - 1;
    const auto add = [&](CodeKind kind, bool counted, std::vector<Part>& parts) {
      for (std::int64_t j = 0; j < codes.q(); ++j) {
        const CodeAttribute& attribute = codes.attributes[j];
        const bool few = attribute.levels <= LEVELS_A_SLOT * slots;
        if (attribute.kind != kind || (kind != CodeKind::TAXONOMY && few != counted)) continue;
        const std::int64_t offset = counted ? counts_a_group_ : 0;
        parts.push_back({q_++, j, attribute.unit(), attribute.levels, offset});
        if (counted) counts_a_group_ += attribute.levels;
      }
    };
    add(CodeKind::NOMINAL, true, counted_);
    add(CodeKind::NOMINAL, false, uncounted_);
    add(CodeKind::ORDERED, true, ordered_);
    ordered_counted_ = ordered_.size();
    add(CodeKind::ORDERED, false, ordered_);
    add(CodeKind::TAXONOMY, false, taxonomies_);
    take_codes(block, codes);
    for (const Part& part : taxonomies_) take_distances(codes.attributes[part.source]);
    const auto groups = static_cast<std::size_t>(capacity());
    counts_.resize(groups * static_cast<std::size_t>(counts_a_group_));
    figures_.resize(groups * static_cast<std::size_t>(q_));
    sums_.resize(static_cast<std::size_t>(n()) * taxonomies_.size());
    for (Label group = 0; group < capacity(); ++group) {
      for (const Row row : members(group)) count(row, group);
      settle(group);
    }
  }

  using LiveGroups::can_give;
  using LiveGroups::can_take;
  using LiveGroups::capacity;
  using LiveGroups::give_back;
  using LiveGroups::group_of;
  using LiveGroups::has_unused;
  using LiveGroups::k;
  using LiveGroups::labels;
  using LiveGroups::member;
  using LiveGroups::members;
  using LiveGroups::n;
  using LiveGroups::new_group;
  using LiveGroups::NONE;
  using LiveGroups::Offer;
  using LiveGroups::refresh;
  using LiveGroups::size;

  double insert_cost(Row row, Label group) const {
    if (size(group) == 0) return 0.0;
    double cost = LiveGroups::insert_cost(row, group);
    const Code* own = codes_of(row);
    const Figures* figures = figures_of(group);
    const std::int32_t* counts = counts_of(group);
    for (const Part& part : counted_)
      cost += part.unit * join_mode(figures[part.place], counts[own[part.place]]);
    for (const Part& part : uncounted_)
      cost += part.unit * join_mode(figures[part.place], scanned(part, own[part.place], group));
    const bool odd = size(group) % 2 == 1;
    for (const Part& part : ordered_)
      cost += part.unit * to_middle(figures[part.place], level(part, own), odd);
    for (std::size_t t = 0; t < taxonomies_.size(); ++t) {
      const Part& part = taxonomies_[t];
      const std::int64_t after = nearest_sum(t, group, NONE, row);
      cost += part.unit * static_cast<double>(after - figures[part.place].first);
    }
    return cost;
  }
  double remove_gain(Row row) const {
    const Label group = group_of(row);
    if (size(group) == 1) return 0.0;
    double gain = LiveGroups::remove_gain(row);
    const Code* own = codes_of(row);
    const Figures* figures = figures_of(group);
    const std::int32_t* counts = counts_of(group);
    for (const Part& part : counted_)
      gain += part.unit * leave_mode(figures[part.place], counts[own[part.place]]);
    for (const Part& part : uncounted_)
      gain += part.unit * leave_mode(figures[part.place], scanned(part, own[part.place], group));
    const bool odd = size(group) % 2 == 1;
    for (const Part& part : ordered_)
      gain += part.unit * from_middle(figures[part.place], level(part, own), odd);
    for (std::size_t t = 0; t < taxonomies_.size(); ++t) {
      const Part& part = taxonomies_[t];
      const std::int64_t after = nearest_sum(t, group, row, NONE);
      gain += part.unit * static_cast<double>(figures[part.place].first - after);
    }
    return gain;
  }
  double replace_change(Row out, Row in) const {
    const Label group = group_of(out);
    if (size(group) == 1) return 0.0;
    double change = LiveGroups::replace_change(out, in);
    const Code* old = codes_of(out);
    const Code* own = codes_of(in);
    const Figures* figures = figures_of(group);
    const std::int32_t* counts = counts_of(group);
    for (const Part& part : counted_) {
      const Code from = old[part.place];
      const Code to = own[part.place];
      if (from != to)
        change += part.unit * replace_mode(figures[part.place], counts[from], counts[to]);
    }
    for (const Part& part : uncounted_) {
      const Code from = old[part.place];
      const Code to = own[part.place];
      if (from != to)
        change += part.unit * replace_mode(figures[part.place], scanned(part, from, group),
                                           scanned(part, to, group));
    }
    const bool odd = size(group) % 2 == 1;
    for (const Part& part : ordered_)
      change +=
          part.unit * replace_middle(figures[part.place], level(part, old), level(part, own), odd);
    for (std::size_t t = 0; t < taxonomies_.size(); ++t) {
      const Part& part = taxonomies_[t];
      const std::int64_t after = nearest_sum(t, group, out, in);
      change += part.unit * static_cast<double>(after - figures[part.place].first);
    }
    return change;
  }
  double swap_change(Row one, Row other) const {
    return replace_change(one, other) + replace_change(other, one);
  }
  Offer best_near(Row row, std::span<const Row> near, Label except, Label or_except = NONE,
                  std::size_t stride = 1) {
    return cheapest_near(near, except, or_except, stride,
                         [&](Label group) { return insert_cost(row, group); });
  }

  // The whole cost of a group.
  double sse(Label group) const {
    double cost = LiveGroups::sse(group);
    for (const std::vector<Part>* parts : {&counted_, &uncounted_}) {
      for (const Part& part : *parts)
        cost += part.unit * static_cast<double>(size(group) - figures_of(group)[part.place].first);
    }
    for (const Part& part : ordered_) {
      std::int64_t sum = 0;
      for (const Row row : members(group))
        sum += std::abs(level(part, codes_of(row)) - figures_of(group)[part.place].low);
      cost += part.unit * static_cast<double>(sum);
    }
    for (const Part& part : taxonomies_)
      cost += part.unit * static_cast<double>(figures_of(group)[part.place].first);
    return cost;
  }
  double sse() const {
    double sum = 0.0;
    for (Label group = 0; group < capacity(); ++group) {
      if (size(group) > 0) sum += sse(group);
    }
    return sum;
  }

  void fetch_group_of(Row row) const { LiveGroups::fetch_group_of(row); }
  void fetch_record(Row row) const {
    LiveGroups::fetch_record(row);
    __builtin_prefetch(codes_of(row));
  }
  void fetch_group(Label group) const {
    LiveGroups::fetch_group(group);
    __builtin_prefetch(figures_of(group));
    __builtin_prefetch(counts_of(group));
  }

  void move(Row row, Label to) {
    const Label from = group_of(row);
    LiveGroups::take_out(row);
    uncount(row, from);
    count(row, to);
    LiveGroups::put_into(row, to);
    settle(from);
    settle(to);
  }
  void swap(Row one, Row other) {
    const Label p = group_of(one);
    const Label q = group_of(other);
    count(other, p);
    count(one, q);
    LiveGroups::swap(one, other);
    uncount(one, p);
    uncount(other, q);
    settle(p);
    settle(q);
  }
  void rotate(Row first, Row second, Row third) {
    const Label a = group_of(first);
    const Label b = group_of(second);
    const Label c = group_of(third);
    count(first, b);
    count(second, c);
    count(third, a);
    LiveGroups::rotate(first, second, third);
    uncount(second, b);
    uncount(third, c);
    uncount(first, a);
    settle(a);
    settle(b);
    settle(c);
  }

 private:
  // Counts are kept of attributes with at most so many levels for each place of a group: where
  // there are more, looking at the members is quicker than memory.
  static constexpr std::int64_t LEVELS_A_SLOT = 16;
  static constexpr Code MOST_CODES_IN_MATRIX = 1024;

  struct Part {
    std::int64_t place;   // here
    std::int64_t source;  // where it was given
    double unit;
    Code levels;
    std::int64_t offset;  // of its counts in those of a group; its codes here begin with it
  };
  // Codes: the largest count and how many codes have it. Levels: the middle one with those before
  // and after it or, of an even number, the two in the middle, `low` and `high`. Taxonomies: the
  // least sum of distances.
  struct Figures {
    std::int32_t first = 0;
    std::int32_t tied = 0;
    Code low = 0;
    Code high = 0;
  };

  const Code* codes_of(Row row) const { return codes_.data() + row * q_; }
  const Figures* figures_of(Label group) const { return figures_.data() + group * q_; }
  Figures* figures_of(Label group) { return figures_.data() + group * q_; }
  const std::int32_t* counts_of(Label group) const {
    return counts_.data() + group * counts_a_group_;
  }
  std::int32_t* counts_of(Label group) { return counts_.data() + group * counts_a_group_; }
  static Code level(const Part& part, const Code* own) {
    return static_cast<Code>(own[part.place] - part.offset);
  }

  void take_codes(const Block& block, const Codes& codes) {
    codes_.resize(block.rows.size() * static_cast<std::size_t>(q_));
    for (const std::vector<Part>* parts : {&counted_, &uncounted_, &ordered_, &taxonomies_}) {
      for (const Part& part : *parts) {
        for (std::size_t i = 0; i < block.rows.size(); ++i) {
          const Code code = codes.of(block.rows[i], part.source);
          codes_[i * static_cast<std::size_t>(q_) + static_cast<std::size_t>(part.place)] =
              static_cast<Code>(code + part.offset);
        }
      }
    }
  }

  // Growth, fall and change of (members - largest count).
  static double join_mode(const Figures& figures, std::int32_t own) {
    return own == figures.first ? 0.0 : 1.0;
  }
  static double leave_mode(const Figures& figures, std::int32_t own) {
    return own == figures.first && figures.tied == 1 ? 0.0 : 1.0;
  }
  static double replace_mode(const Figures& figures, std::int32_t out, std::int32_t in) {
    const std::int32_t rest = figures.first - (out == figures.first && figures.tied == 1 ? 1 : 0);
    return static_cast<double>(figures.first - std::max(rest, in + 1));
  }
  // Growth, fall and change of the sum of distances to the median.
  static double outside(Code level, Code low, Code high) {
    return static_cast<double>(level < low ? low - level : level > high ? level - high : 0);
  }
  static double to_middle(const Figures& figures, Code level, bool odd) {
    return outside(level, figures.low, odd ? figures.low : figures.high);
  }
  static double from_middle(const Figures& figures, Code level, bool odd) {
    if (odd) return outside(level, figures.low, figures.low);
    const Code median = level <= figures.low ? figures.high : figures.low;
    return outside(level, median, median);
  }
  static double replace_middle(const Figures& figures, Code out, Code in, bool odd) {
    if (out == in) return 0.0;
    const double fall = from_middle(figures, out, odd);
    if (!odd) {
      const Code median = out <= figures.low ? figures.high : figures.low;
      return outside(in, median, median) - fall;
    }
    const Code below = figures.first;  // of three in the middle
    const Code low = out < figures.low ? figures.low : below;
    const Code high = out > figures.low ? figures.low : figures.high;
    return outside(in, low, high) - fall;
  }

  std::int32_t scanned(const Part& part, Code code, Label group) const {
    std::int32_t found = 0;
    for (const Row row : members(group)) found += codes_of(row)[part.place] == code;
    return found;
  }

  // The record is counted, or no longer, in a group of which it is not (yet or any more) a member.
  void count(Row row, Label group) {
    const Code* own = codes_of(row);
    std::int32_t* counts = counts_of(group);
    Figures* figures = figures_of(group);
    for (const Part& part : counted_) {
      const std::int32_t now = ++counts[own[part.place]];
      Figures& known = figures[part.place];
      if (now > known.first) {
        known = {now, 1};
      } else if (now == known.first) {
        ++known.tied;
      }
    }
    for (std::size_t at = 0; at < ordered_counted_; ++at) ++counts[own[ordered_[at].place]];
  }
  void uncount(Row row, Label group) {
    const Code* own = codes_of(row);
    std::int32_t* counts = counts_of(group);
    Figures* figures = figures_of(group);
    for (const Part& part : counted_) {
      const std::int32_t before = counts[own[part.place]]--;
      Figures& known = figures[part.place];
      if (before < known.first) continue;
      if (--known.tied == 0) known = {before - 1, tied(part, group, before - 1)};
    }
    for (std::size_t at = 0; at < ordered_counted_; ++at) --counts[own[ordered_[at].place]];
  }
  std::int32_t tied(const Part& part, Label group, std::int32_t wanted) const {
    if (wanted == 0) return 0;
    const std::int32_t* counts = counts_of(group);
    std::int32_t found = 0;
    if (part.levels <= size(group)) {
      for (Code code = 0; code < part.levels; ++code) found += counts[part.offset + code] == wanted;
      return found;
    }
    for (const Row row : members(group)) found += counts[codes_of(row)[part.place]] == wanted;
    return found / wanted;
  }

  // Computes anew what is not kept up while records are counted.
  void settle(Label group) {
    if (size(group) == 0) {
      for (const std::vector<Part>* parts : {&uncounted_, &ordered_, &taxonomies_}) {
        for (const Part& part : *parts) figures_of(group)[part.place] = {};
      }
      return;
    }
    for (const Part& part : uncounted_) settle_mode(part, group);
    for (std::size_t at = 0; at < ordered_.size(); ++at) {
      const Part& part = ordered_[at];
      if (at < ordered_counted_ && part.levels <= 4 * size(group)) {
        settle_middle_by_counts(part, group);
      } else {
        settle_middle(part, group);
      }
    }
    for (std::size_t t = 0; t < taxonomies_.size(); ++t) settle_sums(t, group);
  }
  void settle_mode(const Part& part, Label group) {
    gather(part, group);
    std::sort(gathered_.begin(), gathered_.end());
    Figures known;
    for (auto first = gathered_.begin(); first != gathered_.end();) {
      const auto next =
          std::find_if(first, gathered_.end(), [=](Code code) { return code != *first; });
      const auto now = static_cast<std::int32_t>(next - first);
      if (now > known.first) {
        known = {now, 1};
      } else if (now == known.first) {
        ++known.tied;
      }
      first = next;
    }
    figures_of(group)[part.place] = known;
  }
  void settle_middle(const Part& part, Label group) {
    gather(part, group);
    const std::int64_t m = size(group);
    const auto middle = gathered_.begin() + (m - 1) / 2;
    std::nth_element(gathered_.begin(), middle, gathered_.end());
    Figures known{*middle, 0, *middle, *middle};
    if (m % 2 == 1 && m > 1) known.first = *std::max_element(gathered_.begin(), middle);
    if (m > 1) known.high = *std::min_element(middle + 1, gathered_.end());
    shift_levels(known, static_cast<Code>(part.offset));
    figures_of(group)[part.place] = known;
  }
  static void shift_levels(Figures& known, Code offset) {
    known.first -= offset;
    known.low -= offset;
    known.high -= offset;
  }
  void settle_middle_by_counts(const Part& part, Label group) {
    const std::int32_t* counts = counts_of(group) + part.offset;
    const std::int64_t m = size(group);
    const std::int64_t middle = (m - 1) / 2;
    Figures known;
    Code before = 0;
    Code at = 0;
    std::int64_t up_to = counts[0];  // records of this level or below
    while (up_to <= middle) {
      if (counts[at] > 0) before = at;
      up_to += counts[++at];
    }
    known.low = at;
    known.first = middle > up_to - counts[at] ? at : middle > 0 ? before : at;
    while (m > 1 && up_to <= middle + 1) up_to += counts[++at];
    known.high = at;
    figures_of(group)[part.place] = known;
  }
  void gather(const Part& part, Label group) {
    gathered_.clear();
    for (const Row row : members(group)) gathered_.push_back(codes_of(row)[part.place]);
  }

  // A taxonomy with nodes numbered from 0, and the distances of its codes if they are few.
  struct Tree {
    std::vector<Code> nodes;
    std::int64_t depth;
    Code levels;
    std::vector<std::uint8_t> distances;
    std::vector<std::int32_t> counts;  // scratch: of each node
    std::int64_t distance(Code one, Code other) const {
      if (!distances.empty()) return distances[static_cast<std::size_t>(one) * levels + other];
      return Paths{nodes, depth}.distance(one, other);
    }
  };
  void take_distances(const CodeAttribute& attribute) {
    Tree tree{{attribute.paths.nodes.begin(), attribute.paths.nodes.end()},
              attribute.paths.depth,
              attribute.levels,
              {},
              {}};
    MICROAGG_ASSERT(static_cast<std::int64_t>(tree.nodes.size()) >= tree.depth * tree.levels);
    // Nodes of different levels differ, whatever their numbers.
    std::vector<std::pair<std::int64_t, Code>> known;
    const auto name = [&](std::size_t at) {
      return std::pair{static_cast<std::int64_t>(at) % tree.depth, tree.nodes[at]};
    };
    for (std::size_t at = 0; at < tree.nodes.size(); ++at) known.push_back(name(at));
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    for (std::size_t at = 0; at < tree.nodes.size(); ++at) {
      const auto found = std::lower_bound(known.begin(), known.end(), name(at));
      tree.nodes[at] = static_cast<Code>(found - known.begin());
    }
    tree.counts.resize(known.size());
    if (tree.levels <= MOST_CODES_IN_MATRIX && tree.depth < 256) {
      std::vector<std::uint8_t> distances;
      for (Code one = 0; one < tree.levels; ++one) {
        for (Code other = 0; other < tree.levels; ++other)
          distances.push_back(static_cast<std::uint8_t>(tree.distance(one, other)));
      }
      tree.distances = std::move(distances);
    }
    trees_.push_back(std::move(tree));
  }
  std::int64_t& sum_of(Row row, std::size_t t) {
    return sums_[static_cast<std::size_t>(row) * taxonomies_.size() + t];
  }
  std::int64_t sum_of(Row row, std::size_t t) const {
    return sums_[static_cast<std::size_t>(row) * taxonomies_.size() + t];
  }
  // The least sum of distances in the group without `out` and with `in`, either of which may be
  // NONE.
  std::int64_t nearest_sum(std::size_t t, Label group, Row out, Row in) const {
    const Tree& tree = trees_[t];
    const std::int64_t place = taxonomies_[t].place;
    const Code gone = out == NONE ? 0 : codes_of(out)[place];
    const Code come = in == NONE ? 0 : codes_of(in)[place];
    std::int64_t best = tree.depth * (size(group) + 1);
    std::int64_t of_new = 0;
    for (const Row row : members(group)) {
      if (row == out) continue;
      const Code code = codes_of(row)[place];
      std::int64_t sum = sum_of(row, t);
      if (out != NONE) sum -= tree.distance(code, gone);
      if (in != NONE) {
        const std::int64_t apart = tree.distance(code, come);
        sum += apart;
        of_new += apart;
      }
      best = std::min(best, sum);
    }
    return in == NONE ? best : std::min(best, of_new);
  }
  // At each level of the tree, a code is apart from all that are not of the same node.
  void settle_sums(std::size_t t, Label group) {
    Tree& tree = trees_[t];
    const std::int64_t place = taxonomies_[t].place;
    const auto path = [&](Row row) {
      return tree.nodes.data() + codes_of(row)[place] * tree.depth;
    };
    for (const Row row : members(group)) {
      for (std::int64_t level = 0; level < tree.depth; ++level) ++tree.counts[path(row)[level]];
    }
    std::int64_t best = tree.depth * size(group);
    for (const Row row : members(group)) {
      std::int64_t sum = tree.depth * size(group);
      for (std::int64_t level = 0; level < tree.depth; ++level)
        sum -= tree.counts[path(row)[level]];
      sum_of(row, t) = sum;
      best = std::min(best, sum);
    }
    for (const Row row : members(group)) {
      for (std::int64_t level = 0; level < tree.depth; ++level) tree.counts[path(row)[level]] = 0;
    }
    figures_of(group)[place].first = static_cast<std::int32_t>(best);
  }

  std::int64_t q_ = 0;
  std::int64_t counts_a_group_ = 0;
  std::vector<Part> counted_;    // most frequent code, with counts
  std::vector<Part> uncounted_;  // most frequent code, without
  std::vector<Part> ordered_;    // median level; the first of them with counts
  std::size_t ordered_counted_ = 0;
  std::vector<Part> taxonomies_;
  std::vector<Tree> trees_;
  Array<Code> codes_;
  Array<std::int32_t> counts_;
  Array<Figures> figures_;
  Array<std::int64_t> sums_;
  std::vector<Code> gathered_;
};

}  // namespace microagg
