// MDAV-generic: MDAV with the 3k rule over records with numbers, ordered levels and categories.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "microagg/codes.hpp"
#include "microagg/exact_sum.hpp"
#include "microagg/points.hpp"
#include "microagg/watch.hpp"

namespace microagg {

// Records of (n, p) values and (n, q) codes. Their distance: squared differences of the values, and
// 1 for each code that differs. Of values that are ordered levels the average record has the median
// (the lower one of two), of others the mean, of codes the most frequent (the lowest of several).
struct GenericRecords {
  Points values;
  std::span<const bool> ordered;  // p
  std::span<const Code> codes;
  std::int64_t q;
  const Code* codes_of(std::int64_t row) const { return codes.data() + row * q; }
};

class MdavGeneric {
 public:
  MdavGeneric(const GenericRecords& records, std::int64_t k, Watch& watch)
      : records_(records),
        k_(k),
        poll_(watch, 1'000'000),
        group_of_(static_cast<std::size_t>(records.values.n), 0),
        mean_(records.values.p),
        centre_(static_cast<std::size_t>(records.values.p)),
        centre_codes_(static_cast<std::size_t>(records.q)),
        counts_(static_cast<std::size_t>(records.q)) {
    MICROAGG_ASSERT(k >= 1);
    MICROAGG_ASSERT(static_cast<std::int64_t>(records.ordered.size()) == records.values.p);
    MICROAGG_ASSERT(static_cast<std::int64_t>(records.codes.size()) ==
                    records.values.n * records.q);
    remaining_.reserve(group_of_.size());
    for (Row row = 0; row < records.values.n; ++row) {
      remaining_.push_back(row);
      mean_.add(records.values.row(row));
      for (std::int64_t j = 0; j < records.q; ++j) {
        const auto code = static_cast<std::size_t>(records.codes_of(row)[j]);
        if (counts_[j].size() <= code) counts_[j].resize(code + 1);
        ++counts_[j][code];
      }
    }
  }

  // Groups in the order in which they were formed.
  [[nodiscard]] Labels run() {
    const auto all = static_cast<double>(remaining_.size());
    while (left() >= 3 * k_) {
      const Row seed = farthest_from_centre();
      form_group(seed);
      form_group(farthest_from(seed));
      const double share = static_cast<double>(left()) / all;
      poll_.report_done(1.0 - share * share);
    }
    if (left() >= 2 * k_) form_group(farthest_from_centre());
    for (const Row row : remaining_) group_of_[row] = groups_;
    return std::move(group_of_);
  }

 private:
  std::int64_t left() const { return static_cast<std::int64_t>(remaining_.size()); }

  double distance(Row row, const double* values, const Code* codes) const {
    const Code* own = records_.codes_of(row);
    std::int64_t different = 0;
    for (std::int64_t j = 0; j < records_.q; ++j) different += own[j] != codes[j];
    return squared_distance(records_.values.row(row), values, records_.values.p) +
           static_cast<double>(different);
  }
  Row farthest_from(Row from) {
    return farthest(records_.values.row(from), records_.codes_of(from));
  }
  Row farthest(const double* values, const Code* codes) {
    poll_.tick(left() * (records_.values.p + records_.q));
    Neighbour best{-1.0, 0};
    for (const Row row : remaining_) {
      const Neighbour next{distance(row, values, codes), row};
      if (farther(next, best)) best = next;
    }
    return best.row;
  }
  Row farthest_from_centre() {
    mean_.write(centre_.data());
    for (std::int64_t a = 0; a < records_.values.p; ++a) {
      if (records_.ordered[a]) centre_[a] = median(a);
    }
    for (std::int64_t j = 0; j < records_.q; ++j) {
      const auto most = std::max_element(counts_[j].begin(), counts_[j].end());
      centre_codes_[j] = static_cast<Code>(most - counts_[j].begin());
    }
    return farthest(centre_.data(), centre_codes_.data());
  }
  double median(std::int64_t attribute) {
    poll_.tick(left());
    gathered_.clear();
    for (const Row row : remaining_) gathered_.push_back(records_.values.row(row)[attribute]);
    const auto middle = gathered_.begin() + (left() - 1) / 2;
    std::nth_element(gathered_.begin(), middle, gathered_.end());
    return *middle;
  }

  // The seed and the k-1 nearest to it.
  void form_group(Row seed) {
    poll_.tick(left() * (records_.values.p + records_.q));
    nearest_.clear();
    for (const Row row : remaining_) {
      const double away =
          row == seed ? -1.0 : distance(row, records_.values.row(seed), records_.codes_of(seed));
      nearest_.push_back({away, row});
    }
    std::nth_element(nearest_.begin(), nearest_.begin() + (k_ - 1), nearest_.end(), nearer);
    for (std::int64_t i = 0; i < k_; ++i) take(nearest_[i].row);
    std::erase_if(remaining_, [&](Row row) { return group_of_[row] == TAKEN; });
    for (std::int64_t i = 0; i < k_; ++i) group_of_[nearest_[i].row] = groups_;
    ++groups_;
  }
  void take(Row row) {
    group_of_[row] = TAKEN;
    mean_.remove(records_.values.row(row));
    for (std::int64_t j = 0; j < records_.q; ++j) --counts_[j][records_.codes_of(row)[j]];
  }

  static constexpr Label TAKEN = -1;

  GenericRecords records_;
  std::int64_t k_;
  Poll poll_;
  Labels group_of_;
  Label groups_ = 0;
  std::vector<Row> remaining_;  // in order
  RunningCentroid mean_;
  std::vector<double> centre_;
  std::vector<Code> centre_codes_;
  std::vector<std::vector<std::int64_t>> counts_;  // by attribute and code, of what remains
  std::vector<double> gathered_;
  std::vector<Neighbour> nearest_;
};

}  // namespace microagg
