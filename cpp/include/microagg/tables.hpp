// Which of its candidates each group publishes, so that tables of counts, and sums of numbers by
// category, stay as in the source. All members of a group publish the same, whatever is chosen.
#pragma once

#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "microagg/codes.hpp"
#include "microagg/random.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// What groups may publish of one attribute. A group without candidates publishes nothing of it: the
// last code.
struct Choices {
  std::span<const std::int64_t> first;  // by group: its first candidate; then the number of all
  std::span<const Code> code;           // by candidate: its column or row of tables
  std::span<const double> price;        // what it costs by itself
  std::span<const double> amount;       // of numbers: its value, standardised; none of categories
  Code codes;                           // all are below this
};

// The source: codes of all records, and amounts of those attributes that are numbers, 0 where they
// are missing.
struct TableSource {
  std::span<const std::int32_t> group;     // of each record
  std::span<const double> weight;          // of each record; 1 on average
  std::span<const Code> codes;             // (n, attributes)
  std::span<const double> amounts;         // (n, attributes that are numbers)
  std::span<const Code> others_before;     // (n, others): columns that are not chosen here
  std::span<const Code> others_published;  // the same as they are released
  std::span<const Code> codes_of_others;   // how many codes each of them has
};

struct TablePlan {
  bool pairs;            // tables of two attributes too; else of each with the others alone
  double few;            // a cell counts by the inverse of its count and this
  double sums;           // how much sums of numbers count beside tables of counts
  double hot;            // the temperature at the beginning, in units of the objective
  std::int64_t cooling;  // sweeps while it falls to nothing
  std::int64_t sweeps;   // at most, afterwards
};

class TableSearch {
 public:
  TableSearch(std::span<const Choices> attributes, const TableSource& source, TablePlan plan,
              Watch& watch)
      : attributes_(attributes),
        source_(source),
        plan_(plan),
        poll_(watch, 2000, Deadline::HEED),
        p_(static_cast<std::int64_t>(attributes.size())),
        q_(static_cast<std::int64_t>(source.codes_of_others.size())),
        n_(static_cast<std::int64_t>(source.group.size())),
        groups_(static_cast<std::int64_t>(attributes.front().first.size()) - 1),
        shares_(groups_, 0.0) {
    MICROAGG_ASSERT(n_ > 0 && source.weight.size() == source.group.size());
    MICROAGG_ASSERT(static_cast<std::int64_t>(source.codes.size()) == n_ * p_);
    MICROAGG_ASSERT(static_cast<std::int64_t>(source.others_before.size()) == n_ * q_);
    MICROAGG_ASSERT(static_cast<std::int64_t>(source.others_published.size()) == n_ * q_);
    for (std::int64_t i = 0; i < p_; ++i) {
      MICROAGG_ASSERT(static_cast<std::int64_t>(attributes[i].first.size()) == groups_ + 1);
      number_.push_back(attributes[i].amount.empty() ? -1 : numbers_++);
    }
    MICROAGG_ASSERT(static_cast<std::int64_t>(source.amounts.size()) == n_ * numbers_);
    for (std::int64_t row = 0; row < n_; ++row) shares_[source.group[row]] += source.weight[row];
    gather_others();
    lay_out();
    subtract_source();
  }

  // By group and attribute: the place of the chosen candidate among those of the group, -1 where it
  // has none. `start` is what is chosen at first.
  Array<std::int32_t> run(std::span<const std::int32_t> start) {
    MICROAGG_ASSERT(static_cast<std::int64_t>(start.size()) == groups_ * p_);
    chosen_.assign(start.begin(), start.end());
    now_.resize(groups_ * p_);
    for (std::int64_t g = 0; g < groups_; ++g) {
      for (std::int64_t i = 0; i < p_; ++i) now_[g * p_ + i] = published(g, i, chosen_[g * p_ + i]);
    }
    for (std::int64_t g = 0; g < groups_; ++g) add_group(g);
    Array<std::int64_t> order(groups_);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    Random random(1);  // only so that no attribute of the order of records decides
    for (std::int64_t g = groups_ - 1; g > 0; --g) std::swap(order[g], order[random.below(g + 1)]);
    try {
      for (std::int64_t sweep = 0; sweep < plan_.cooling; ++sweep) {
        const double left = 1.0 - static_cast<double>(sweep) / static_cast<double>(plan_.cooling);
        for (const std::int64_t g : order) {
          for (std::int64_t i = 0; i < p_; ++i) try_another(g, i, plan_.hot * left * left, random);
          poll_.tick(p_);
        }
      }
      for (std::int64_t sweep = 0; sweep < plan_.sweeps; ++sweep) {
        std::int64_t changed = 0;
        for (const std::int64_t g : order) {
          for (std::int64_t i = 0; i < p_; ++i) changed += improve(g, i);
          poll_.tick(p_);
        }
        poll_.report_done(static_cast<double>(sweep + 1) / static_cast<double>(plan_.sweeps));
        if (changed == 0) break;
      }
    } catch (const DeadlinePassed&) {  // what is chosen so far is as good as any
    }
    return chosen_;
  }

 private:
  struct Cell {
    double excess;  // of the release over the source
    double scale;   // how much its square counts
  };
  struct Published {
    Code code;
    double amount;
  };
  struct Other {
    Code code;
    double weight;
  };

  // The columns of tables: attributes, then others.
  std::int64_t columns() const { return p_ + q_; }
  Code codes_of(std::int64_t column) const {
    return column < p_ ? attributes_[column].codes : source_.codes_of_others[column - p_];
  }
  bool is_table(std::int64_t i, std::int64_t column) const {
    return column >= p_ || (plan_.pairs && column != i);
  }
  Published published(std::int64_t g, std::int64_t i, std::int32_t place) const {
    const Choices& own = attributes_[i];
    if (place < 0) return {own.codes - 1, 0.0};
    const std::int64_t at = own.first[g] + place;
    MICROAGG_ASSERT(at < own.first[g + 1] && own.code[at] < own.codes);
    return {own.code[at], number_[i] < 0 ? 0.0 : own.amount[at]};
  }

  // By group and other column: the codes that its records are released with, and their weights.
  void gather_others() {
    const Rows rows = rows_by_group(source_.group);
    others_first_.push_back(0);
    std::vector<Other> own;
    std::size_t first = 0;
    for (std::int64_t g = 0; g < groups_; ++g) {
      std::size_t next = first;
      while (next < rows.size() && source_.group[rows[next]] == g) ++next;
      for (std::int64_t c = 0; c < q_; ++c) {
        own.clear();
        for (std::size_t at = first; at < next; ++at) {
          const std::int64_t row = rows[at];
          own.push_back({source_.others_published[row * q_ + c], source_.weight[row]});
        }
        std::sort(own.begin(), own.end(),
                  [](const Other& a, const Other& b) { return a.code < b.code; });
        for (const Other& each : own) {
          if (static_cast<std::int64_t>(others_.size()) > others_first_.back() &&
              others_.back().code == each.code) {
            others_.back().weight += each.weight;
          } else {
            others_.push_back(each);
          }
        }
        others_first_.push_back(static_cast<std::int64_t>(others_.size()));
      }
      first = next;
    }
  }
  std::span<const Other> others(std::int64_t g, std::int64_t c) const {
    const std::int64_t at = g * q_ + c;
    return {others_.data() + others_first_[at], others_.data() + others_first_[at + 1]};
  }

  void lay_out() {
    std::int64_t cells = 0;
    tables_.assign(p_ * columns(), -1);
    sums_.assign(numbers_ * columns(), -1);
    for (std::int64_t i = 0; i < p_; ++i) {
      for (std::int64_t c = i + 1; c < columns(); ++c) {
        if (!is_table(i, c)) continue;
        tables_[i * columns() + c] = cells;
        if (c < p_) tables_[c * columns() + i] = cells;
        cells += std::int64_t{codes_of(i)} * codes_of(c);
      }
      for (std::int64_t c = 0; number_[i] >= 0 && c < columns(); ++c) {
        if (!is_table(i, c)) continue;
        sums_[number_[i] * columns() + c] = cells;
        cells += codes_of(c);
      }
    }
    cells_.assign(cells, {0.0, 0.0});
  }
  // Of attribute i, beside a column: a table has the smaller of the two as its rows.
  Cell& cell(std::int64_t i, Code code, std::int64_t column, Code other) {
    const std::int64_t first = tables_[i * columns() + column];
    return cells_[i < column ? first + std::int64_t{code} * codes_of(column) + other
                             : first + std::int64_t{other} * codes_of(i) + code];
  }
  Cell& sum(std::int64_t number, std::int64_t column, Code other) {
    return cells_[sums_[number * columns() + column] + other];
  }

  // What is published has to come up to the source: cells begin with what they lack.
  void subtract_source() {
    std::vector<Code> own(columns());
    for (std::int64_t row = 0; row < n_; ++row) {
      for (std::int64_t c = 0; c < p_; ++c) own[c] = source_.codes[row * p_ + c];
      for (std::int64_t c = 0; c < q_; ++c) own[p_ + c] = source_.others_before[row * q_ + c];
      const double weight = source_.weight[row];
      for (std::int64_t i = 0; i < p_; ++i) {
        for (std::int64_t c = i + 1; c < columns(); ++c) {
          if (is_table(i, c)) cell(i, own[i], c, own[c]).excess -= weight;
        }
        if (number_[i] < 0) continue;
        const double amount = weight * source_.amounts[row * numbers_ + number_[i]];
        for (std::int64_t c = 0; c < columns(); ++c) {
          if (!is_table(i, c)) continue;
          Cell& own_sum = sum(number_[i], c, own[c]);
          own_sum.excess -= amount;
          own_sum.scale += weight;
        }
      }
    }
    for (std::int64_t i = 0; i < p_; ++i) {
      for (std::int64_t c = i + 1; c < columns(); ++c) {
        if (!is_table(i, c)) continue;
        Cell* first = &cells_[tables_[i * columns() + c]];
        const std::int64_t count = std::int64_t{codes_of(i)} * codes_of(c);
        for (Cell& each : std::span(first, count)) each.scale = 1.0 / (plan_.few - each.excess);
      }
    }
    for (std::int64_t at = 0; at < numbers_ * columns(); ++at) {
      if (sums_[at] < 0) continue;
      for (Cell& each : std::span(&cells_[sums_[at]], codes_of(at % columns())))
        each.scale = plan_.sums / (plan_.few + each.scale);
    }
  }

  // Calls with each cell that attribute i of a group has a part in if it publishes this, and with
  // how much of it.
  template <class Visit>
  void visit(std::int64_t g, std::int64_t i, Published own, Visit visit_cell) {
    const Published* now = &now_[g * p_];
    const double share = shares_[g];
    for (std::int64_t c = 0; plan_.pairs && c < p_; ++c) {
      if (c == i) continue;
      visit_cell(cell(i, own.code, c, now[c].code), share);
      if (number_[i] >= 0) visit_cell(sum(number_[i], c, now[c].code), share * own.amount);
      if (number_[c] >= 0) visit_cell(sum(number_[c], i, own.code), share * now[c].amount);
    }
    for (std::int64_t c = 0; c < q_; ++c) {
      for (const Other& other : others(g, c)) {
        visit_cell(cell(i, own.code, p_ + c, other.code), other.weight);
        if (number_[i] >= 0)
          visit_cell(sum(number_[i], p_ + c, other.code), other.weight * own.amount);
      }
    }
  }
  void add(std::int64_t g, std::int64_t i, double sign) {
    visit(g, i, now_[g * p_ + i], [&](Cell& each, double part) { each.excess += sign * part; });
  }
  void add_group(std::int64_t g) {
    const Published* now = &now_[g * p_];
    const double share = shares_[g];
    for (std::int64_t i = 0; i < p_; ++i) {
      for (std::int64_t c = i + 1; plan_.pairs && c < p_; ++c)
        cell(i, now[i].code, c, now[c].code).excess += share;
      for (std::int64_t c = 0; plan_.pairs && number_[i] >= 0 && c < p_; ++c) {
        if (c != i) sum(number_[i], c, now[c].code).excess += share * now[i].amount;
      }
      for (std::int64_t c = 0; c < q_; ++c) {
        for (const Other& other : others(g, c)) {
          cell(i, now[i].code, p_ + c, other.code).excess += other.weight;
          if (number_[i] >= 0)
            sum(number_[i], p_ + c, other.code).excess += other.weight * now[i].amount;
        }
      }
    }
  }

  // Another candidate of one attribute of a group, taken the more likely the less it costs more.
  void try_another(std::int64_t g, std::int64_t i, double temperature, Random& random) {
    const Choices& own = attributes_[i];
    const std::int64_t count = own.first[g + 1] - own.first[g];
    if (count < 2) return;
    const std::int32_t before = chosen_[g * p_ + i];
    auto other = static_cast<std::int32_t>(random.below(count - 1));
    other += other >= before;
    add(g, i, -1.0);
    const double more = cost(g, i, other) - cost(g, i, before);
    if (random.exponential_exceeds(more, temperature)) {
      chosen_[g * p_ + i] = other;
      now_[g * p_ + i] = published(g, i, other);
    }
    add(g, i, 1.0);
  }

  // The best candidate of one attribute of a group; whether it is another.
  bool improve(std::int64_t g, std::int64_t i) {
    const Choices& own = attributes_[i];
    const std::int64_t first = own.first[g];
    const auto count = static_cast<std::int32_t>(own.first[g + 1] - first);
    if (count < 2) return false;
    add(g, i, -1.0);
    const std::int32_t before = chosen_[g * p_ + i];
    std::int32_t best = before;
    double least = cost(g, i, before) - LEAST_GAIN;
    for (std::int32_t place = 0; place < count; ++place) {
      if (place == before) continue;
      if (const double found = cost(g, i, place); found < least) {
        least = found;
        best = place;
      }
    }
    chosen_[g * p_ + i] = best;
    now_[g * p_ + i] = published(g, i, best);
    add(g, i, 1.0);
    return best != before;
  }
  double cost(std::int64_t g, std::int64_t i, std::int32_t place) {
    double total = attributes_[i].price[attributes_[i].first[g] + place];
    visit(g, i, published(g, i, place), [&](Cell& each, double part) {
      total += each.scale * part * (2.0 * each.excess + part);
    });
    return total;
  }

  static constexpr double LEAST_GAIN = 1e-9;  // less is rounding, of which there might be no end

  std::span<const Choices> attributes_;
  TableSource source_;
  TablePlan plan_;
  Poll poll_;
  std::int64_t p_, q_, n_, groups_;
  std::int64_t numbers_ = 0;
  std::vector<std::int64_t> number_;  // by attribute: which of the numbers it is, or -1
  Array<double> shares_;
  Array<Other> others_;
  Array<std::int64_t> others_first_;
  std::vector<std::int64_t> tables_, sums_;  // the first cell of each, or -1
  Array<Cell> cells_;
  Array<std::int32_t> chosen_;
  Array<Published> now_;
};

// (groups, columns) The combination of codes that costs each group least: one of the first `shared`
// rows, or one of its own, which follow group by group. Of equal ones the first is taken, own ones
// before shared ones. `prices`: by column, (groups, codes) what each code costs.
inline Array<Code> nearest_combinations(std::span<const Code> rows, std::int64_t shared,
                                        std::span<const std::int64_t> first,
                                        std::span<const std::span<const double>> prices,
                                        Watch& watch) {
  const auto columns = static_cast<std::int64_t>(prices.size());
  const auto groups = static_cast<std::int64_t>(first.size()) - 1;
  MICROAGG_ASSERT(static_cast<std::int64_t>(rows.size()) == (shared + first[groups]) * columns);
  Poll poll(watch, 50000);
  Array<Code> found(groups * columns);
  for (std::int64_t g = 0; g < groups; ++g) {
    double least = std::numeric_limits<double>::infinity();
    std::int64_t best = shared + first[g];
    const auto look_at = [&](std::int64_t row) {
      double total = 0.0;
      for (std::int64_t c = 0; c < columns && total < least; ++c) {
        const auto codes = static_cast<std::int64_t>(prices[c].size()) / groups;
        MICROAGG_ASSERT(rows[row * columns + c] >= 0 && rows[row * columns + c] < codes);
        total += prices[c][g * codes + rows[row * columns + c]];
      }
      if (total < least) {
        least = total;
        best = row;
      }
    };
    for (std::int64_t row = shared + first[g]; row < shared + first[g + 1]; ++row) look_at(row);
    for (std::int64_t row = 0; row < shared; ++row) look_at(row);
    poll.tick(shared + 1);
    std::copy_n(rows.begin() + best * columns, columns, found.begin() + g * columns);
  }
  return found;
}

}  // namespace microagg
