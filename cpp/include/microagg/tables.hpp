// Which of its candidates each group publishes, so that tables of counts by two and three columns,
// and sums of numbers by category, stay as in the source. All members of a group publish the same,
// whatever is chosen.
#pragma once

#include <algorithm>
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

// Tables of three columns, which have wider rows than those of two.
struct WideTables {
  std::vector<std::span<const Code>> rows;  // by column, attributes before others: of each code
  std::span<const Code> columns;  // (tables, 3) ascending; an attribute twice, then any column
  double share;                   // how much they count beside tables of two
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
  TableSearch(std::span<const Choices> attributes, const TableSource& source,
              const WideTables& wide, TablePlan plan, Watch& watch)
      : attributes_(attributes),
        source_(source),
        wide_(wide),
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
    lay_out_wide();
    subtract_source();
    subtract_source_of_wide();
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
    Random random(1);  // only so that no attribute of the order of records decides
    const Array<Place> order = places(random);
    try {
      for (std::int64_t sweep = 0; sweep < plan_.cooling; ++sweep) {
        const double left = 1.0 - static_cast<double>(sweep) / static_cast<double>(plan_.cooling);
        for (const Place at : order) {
          try_another(at, plan_.hot * left * left, random);
          poll_.tick();
        }
      }
      for (std::int64_t sweep = 0; sweep < plan_.sweeps; ++sweep) {
        std::int64_t changed = 0;
        for (const Place at : order) {
          changed += improve(at);
          poll_.tick();
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
    Code code, wide;
    double amount;
  };
  // What the records of a group are released with in a column that is not chosen.
  struct Other {
    Code code;
    double weight;
  };
  struct Others {
    Array<Other> all;
    Array<std::int64_t> first;  // by group and column
  };
  // An attribute of a group.
  struct Place {
    std::int32_t group, attribute;
  };
  // Cells of a table in which a group has a part, one for each code of one of its attributes.
  struct Line {
    Cell* cells;
    std::int64_t stride;
    double part;
  };
  // A table of three columns, as one of its attributes sees it.
  struct Wide {
    std::int64_t first, stride;
    std::int64_t one, stride_of_one;  // an attribute
    std::int64_t two, stride_of_two;  // any column
  };

  // The columns of tables: attributes, then others.
  std::int64_t columns() const { return p_ + q_; }
  Code codes_of(std::int64_t column) const {
    return column < p_ ? attributes_[column].codes : source_.codes_of_others[column - p_];
  }
  bool is_table(std::int64_t i, std::int64_t column) const {
    return column >= p_ || (plan_.pairs && column != i);
  }
  Code wide_row(std::int64_t column, Code code) const { return wide_.rows[column][code]; }
  Published published(std::int64_t g, std::int64_t i, std::int32_t place) const {
    const Choices& own = attributes_[i];
    if (place < 0) return {own.codes - 1, wide_row(i, own.codes - 1), 0.0};
    const std::int64_t at = own.first[g] + place;
    MICROAGG_ASSERT(at < own.first[g + 1] && own.code[at] < own.codes);
    return {own.code[at], wide_row(i, own.code[at]), number_[i] < 0 ? 0.0 : own.amount[at]};
  }
  std::int32_t candidates(Place at) const {
    const Choices& own = attributes_[at.attribute];
    return static_cast<std::int32_t>(own.first[at.group + 1] - own.first[at.group]);
  }
  double price(Place at, std::int32_t place) const {
    const Choices& own = attributes_[at.attribute];
    return own.price[own.first[at.group] + place];
  }

  // Those that have a choice, group by group.
  Array<Place> places(Random& random) const {
    Array<std::int32_t> groups(groups_);
    std::iota(groups.begin(), groups.end(), 0);
    for (std::int64_t g = groups_ - 1; g > 0; --g)
      std::swap(groups[g], groups[random.below(g + 1)]);
    Array<Place> found;
    for (const std::int32_t g : groups) {
      for (std::int32_t i = 0; i < p_; ++i) {
        if (candidates({g, i}) > 1) found.push_back({g, i});
      }
    }
    return found;
  }

  void gather_others() {
    const Rows rows = rows_by_group(source_.group);
    others_.first.push_back(0);
    wide_others_.first.push_back(0);
    std::size_t first = 0;
    for (std::int64_t g = 0; g < groups_; ++g) {
      std::size_t next = first;
      while (next < rows.size() && source_.group[rows[next]] == g) ++next;
      const auto members = std::span(rows).subspan(first, next - first);
      for (std::int64_t c = 0; c < q_; ++c) {
        gather(members, c, [](Code code) { return code; }, others_);
        gather(members, c, [&](Code code) { return wide_row(p_ + c, code); }, wide_others_);
      }
      first = next;
    }
  }
  template <class Members, class Row>
  void gather(Members members, std::int64_t c, Row row_of, Others& found) const {
    std::vector<Other> own;
    for (const auto row : members)
      own.push_back({row_of(source_.others_published[row * q_ + c]), source_.weight[row]});
    std::sort(own.begin(), own.end(),
              [](const Other& a, const Other& b) { return a.code < b.code; });
    for (const Other& each : own) {
      if (static_cast<std::int64_t>(found.all.size()) > found.first.back() &&
          found.all.back().code == each.code) {
        found.all.back().weight += each.weight;
      } else {
        found.all.push_back(each);
      }
    }
    found.first.push_back(static_cast<std::int64_t>(found.all.size()));
  }
  std::span<const Other> of_group(const Others& others, std::int64_t g, std::int64_t c) const {
    const std::int64_t at = g * q_ + c;
    return {others.all.data() + others.first[at], others.all.data() + others.first[at + 1]};
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
  void lay_out_wide() {
    std::vector<std::int64_t> rows;
    for (const auto own : wide_.rows) rows.push_back(1 + *std::max_element(own.begin(), own.end()));
    MICROAGG_ASSERT(static_cast<std::int64_t>(rows.size()) == columns());
    of_attribute_.resize(p_);
    auto cells = static_cast<std::int64_t>(cells_.size());
    for (std::size_t at = 0; at < wide_.columns.size(); at += 3) {
      const std::int64_t a = wide_.columns[at], b = wide_.columns[at + 1],
                         c = wide_.columns[at + 2];
      MICROAGG_ASSERT(a >= 0 && a < b && b < p_ && b < c && c < columns());
      const std::int64_t of_b = rows[c], of_a = rows[b] * rows[c];
      of_attribute_[a].push_back({cells, of_a, b, of_b, c, 1});
      of_attribute_[b].push_back({cells, of_b, a, of_a, c, 1});
      if (c < p_) of_attribute_[c].push_back({cells, 1, a, of_a, b, of_b});
      cells += rows[a] * of_a;
    }
    cells_.resize(cells, {0.0, 0.0});
  }
  // Of attribute i, beside a column: a table has the smaller of the two as its rows.
  Line line(std::int64_t i, std::int64_t column, Code other, double part) {
    Cell* first = &cells_[tables_[i * columns() + column]];
    return i < column ? Line{first + other, codes_of(column), part}
                      : Line{first + std::int64_t{other} * codes_of(i), 1, part};
  }
  Cell& cell(std::int64_t i, Code code, std::int64_t column, Code other) {
    const Line own = line(i, column, other, 0.0);
    return own.cells[code * own.stride];
  }
  Cell& sum(std::int64_t number, std::int64_t column, Code other) {
    return cells_[sums_[number * columns() + column] + other];
  }

  // What is published has to come up to the source: cells begin with what they lack.
  void subtract_source() {
    std::vector<Code> own(columns());
    for (std::int64_t row = 0; row < n_; ++row) {
      for (std::int64_t c = 0; c < columns(); ++c) own[c] = of_source(row, c);
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
  void subtract_source_of_wide() {
    const auto first = static_cast<std::int64_t>(cells_.size());
    std::int64_t least = first;
    for (std::int64_t a = 0; a < p_; ++a) {
      for (const Wide& own : of_attribute_[a]) {
        if (own.one < a) continue;  // once for each table
        least = std::min(least, own.first);
        const std::span<const Code> of_a = wide_.rows[a], of_b = wide_.rows[own.one],
                                    of_c = wide_.rows[own.two];
        for (std::int64_t row = 0; row < n_; ++row) {
          const std::int64_t at = own.first + of_a[of_source(row, a)] * own.stride +
                                  of_b[of_source(row, own.one)] * own.stride_of_one +
                                  of_c[of_source(row, own.two)] * own.stride_of_two;
          cells_[at].excess -= source_.weight[row];
        }
      }
    }
    for (Cell& each : std::span(cells_).subspan(least))
      each.scale = wide_.share / (plan_.few - each.excess);
  }
  Code of_source(std::int64_t row, std::int64_t column) const {
    return column < p_ ? source_.codes[row * p_ + column]
                       : source_.others_before[row * q_ + column - p_];
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
        for (const Other& other : of_group(others_, g, c)) {
          cell(i, now[i].code, p_ + c, other.code).excess += other.weight;
          if (number_[i] >= 0)
            sum(number_[i], p_ + c, other.code).excess += other.weight * now[i].amount;
        }
      }
      wide_lines_.clear();
      for (const Wide& own : of_attribute_[i]) {
        if (own.one > i) add_lines(g, own);
      }
      for (const Line& own : wide_lines_) own.cells[own.stride * now[i].wide].excess += own.part;
    }
  }

  // The cells that depend on what a group publishes of one attribute, as long as it publishes the
  // same of the others.
  void gather_lines(Place at) {
    const std::int64_t g = at.group, i = at.attribute;
    const Published* now = &now_[g * p_];
    const double share = shares_[g];
    lines_.clear();
    wide_lines_.clear();
    amounts_.clear();
    for (std::int64_t c = 0; plan_.pairs && c < p_; ++c) {
      if (c == i) continue;
      lines_.push_back(line(i, c, now[c].code, share));
      if (number_[i] >= 0) amounts_.push_back({&sum(number_[i], c, now[c].code), 0, share});
      if (number_[c] >= 0) lines_.push_back({&sum(number_[c], i, 0), 1, share * now[c].amount});
    }
    for (std::int64_t c = 0; c < q_; ++c) {
      for (const Other& other : of_group(others_, g, c)) {
        lines_.push_back(line(i, p_ + c, other.code, other.weight));
        if (number_[i] >= 0)
          amounts_.push_back({&sum(number_[i], p_ + c, other.code), 0, other.weight});
      }
    }
    for (const Wide& own : of_attribute_[i]) add_lines(g, own);
  }
  void add_lines(std::int64_t g, const Wide& own) {
    const Published* now = &now_[g * p_];
    Cell* first = &cells_[own.first + now[own.one].wide * own.stride_of_one];
    if (own.two < p_) {
      wide_lines_.push_back(
          {first + now[own.two].wide * own.stride_of_two, own.stride, shares_[g]});
      return;
    }
    for (const Other& other : of_group(wide_others_, g, own.two - p_))
      wide_lines_.push_back({first + other.code * own.stride_of_two, own.stride, other.weight});
  }

  // How much more the tables are off if a group publishes this instead, by its lines.
  double more(const Published& before, const Published& other) const {
    double total = 0.0;
    if (before.code != other.code) total += moved(lines_, before.code, other.code);
    if (before.wide != other.wide) total += moved(wide_lines_, before.wide, other.wide);
    for (const Line& own : amounts_) {
      const double part = own.part * (other.amount - before.amount);
      total += own.cells->scale * part * (2.0 * own.cells->excess + part);
    }
    return total;
  }
  static double moved(std::span<const Line> lines, Code before, Code other) {
    double total = 0.0;
    for (const Line& own : lines) {
      const Cell& from = own.cells[own.stride * before];
      const Cell& to = own.cells[own.stride * other];
      total += own.part * (to.scale * (2.0 * to.excess + own.part) -
                           from.scale * (2.0 * from.excess - own.part));
    }
    return total;
  }
  void publish(Place at, std::int32_t place) {
    const std::int64_t own_place = at.group * p_ + at.attribute;
    const Published before = now_[own_place];
    const Published other = published(at.group, at.attribute, place);
    for (const Line& own : lines_) {
      own.cells[own.stride * before.code].excess -= own.part;
      own.cells[own.stride * other.code].excess += own.part;
    }
    for (const Line& own : wide_lines_) {
      own.cells[own.stride * before.wide].excess -= own.part;
      own.cells[own.stride * other.wide].excess += own.part;
    }
    for (const Line& own : amounts_) own.cells->excess += own.part * (other.amount - before.amount);
    chosen_[own_place] = place;
    now_[own_place] = other;
  }

  // Another candidate of one attribute of a group, taken the more likely the less it costs more.
  void try_another(Place at, double temperature, Random& random) {
    const std::int32_t before = chosen_[at.group * p_ + at.attribute];
    auto other = static_cast<std::int32_t>(random.below(candidates(at) - 1));
    other += other >= before;
    gather_lines(at);
    const double costs =
        price(at, other) - price(at, before) +
        more(now_[at.group * p_ + at.attribute], published(at.group, at.attribute, other));
    if (random.exponential_exceeds(costs, temperature)) publish(at, other);
  }

  // The best candidate of one attribute of a group; whether it is another.
  bool improve(Place at) {
    gather_lines(at);
    const std::int32_t before = chosen_[at.group * p_ + at.attribute];
    const Published now = now_[at.group * p_ + at.attribute];
    std::int32_t best = before;
    double least = price(at, before) - LEAST_GAIN;
    for (std::int32_t place = 0; place < candidates(at); ++place) {
      if (place == before) continue;
      const double found = price(at, place) + more(now, published(at.group, at.attribute, place));
      if (found < least) {
        least = found;
        best = place;
      }
    }
    if (best != before) publish(at, best);
    return best != before;
  }

  static constexpr double LEAST_GAIN = 1e-9;  // less is rounding, of which there might be no end

  std::span<const Choices> attributes_;
  TableSource source_;
  WideTables wide_;
  TablePlan plan_;
  Poll poll_;
  std::int64_t p_, q_, n_, groups_;
  std::int64_t numbers_ = 0;
  std::vector<std::int64_t> number_;  // by attribute: which of the numbers it is, or -1
  Array<double> shares_;
  Others others_, wide_others_;
  std::vector<std::int64_t> tables_, sums_;      // the first cell of each, or -1
  std::vector<std::vector<Wide>> of_attribute_;  // tables of three columns
  Array<Cell> cells_;
  Array<std::int32_t> chosen_;
  Array<Published> now_;
  std::vector<Line> lines_, wide_lines_, amounts_;  // of the attribute that is looked at
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
