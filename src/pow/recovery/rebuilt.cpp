// SPDX-License-Identifier: BSD-3-Clause
#include "pow/recovery/rebuilt.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "codec/parity/parity.hpp"
#include "core/log/segment_reader.hpp"
#include "pow/file/seal.hpp"
#include "pow/file/seal_layout.hpp"

namespace scute::core::pow {
namespace {

class rebuilding {
 public:
  rebuilding(const state& s, uint32_t seal, const seal_table& t, uint32_t which)
      : s_(s),
        mine_(t.members[which]),
        bytes_(s.head.segment_size),
        others_(s.head.segment_size),
        known_(pages(), true),
        suspect_(pages(), false) {
    log::segment_reader reader(s.layout, s.salt, [&s](uint64_t at, std::byte* to, size_t n) {
      return s.read_segment(at, to, n);
    });
    std::vector<bool> broken(t.head.count);
    for (uint32_t i = 0; i < t.head.count; ++i)
      broken[i] = i != which && !is_whole(s, reader, t.members[i]);
    for (uint64_t p = 0; p < pages(); ++p) {
      if (!read(base_of(s, mine_.segment), p * page, page, bytes_.data() + p * page)) {
        suspect_[p] = true;
        std::fill_n(bytes_.data() + p * page, page, std::byte{0});
      }
      add(p, sum_at(s, seal, 0), s.layout.lines() * log::line_size, false);
      for (uint32_t i = 0; i < t.head.count; ++i)
        if (i != which) add(p, base_of(s, t.members[i].segment), summed(t.members[i]), broken[i]);
      if (cancel_out(doubtful_)) known_[p] = false;
      doubtful_.clear();
    }
    // The table has the fields of the first line.
    const format::segment_head head = head_of(s, mine_);
    if (std::memcmp(bytes_.data(), &head, sizeof head) == 0) return;
    std::memcpy(bytes_.data(), &head, sizeof head);
    head_lost_ = true;
  }

  // First replaces the unreadable pages. Then, one at a time, pages with lines that no valid frame
  // takes: the other members may be wrong about an intact page, so a replacement stays only if more
  // lines become valid. Then all of these together, since a frame may have lost several.
  rebuilt run() {
    uint64_t replaced = replace_all();
    classify_lines();
    if (!whole_) replaced += one_by_one();
    if (!whole_) {
      const auto before = bytes_;
      const uint64_t lines_before = lines_;
      const uint64_t more = replace_all();
      classify_lines();
      if (lines_ > lines_before) {
        replaced += more;
      } else {
        bytes_ = before;
        lines_ = lines_before;
      }
    }
    return {std::move(bytes_), lines_, replaced + (head_lost_ && replaced == 0 ? 1 : 0), whole_};
  }

 private:
  static constexpr uint64_t page = log::segment_page;
  static constexpr uint64_t tries_max = 64;
  uint64_t pages() const { return s_.head.segment_size / page; }

  bool read(uint64_t base, uint64_t from, uint64_t n, std::byte* to) const {
    return s_.read_segment(base + from, to, n);
  }
  // Adds a page of the segment or seal that begins at `base` and has `size` bytes.
  void add(uint64_t p, uint64_t base, uint64_t size, bool broken) {
    if (p * page >= size) return;
    const uint64_t n = std::min(page, size - p * page);
    std::byte there[page];
    if (!read(base, p * page, n, there)) {
      known_[p] = false;
      return;
    }
    codec::xor_into(others_.data() + p * page, there, n);
    if (!broken) return;
    // Its first line may have come from the table.
    const uint64_t from = p == 0 ? log::line_size : 0;
    doubtful_.emplace_back(page);
    std::copy(there + from, there + n, doubtful_.back().data() + from);
  }
  void replace(uint64_t p) {
    const uint64_t end = std::min(summed(mine_), (p + 1) * page);
    const uint64_t from = p == 0 ? log::line_size : p * page;
    // A valid frame stays: the others may be damaged where they would bring it back.
    for (uint64_t at = from; at < end; at += log::line_size)
      if (taken_.empty() || !taken_[at / log::line_size])
        std::memcpy(bytes_.data() + at, others_.data() + at,
                    std::min<uint64_t>(log::line_size, end - at));
  }
  uint64_t replace_all() {
    uint64_t n = 0;
    for (uint64_t p = 0; p < pages(); ++p)
      if (suspect_[p] && known_[p]) {
        replace(p);
        ++n;
      }
    return n;
  }
  // Finds out which lines are valid, and which pages may have made the others invalid.
  void classify_lines() {
    auto& taken = taken_;
    taken.assign(s_.layout.all_lines(), false);
    const uint64_t base = base_of(s_, mine_.segment);
    log::segment_reader reader(s_.layout, s_.salt, [&](uint64_t at, std::byte* to, size_t n) {
      std::memcpy(to, bytes_.data() + (at - base), n);
      return true;
    });
    uint64_t last = 0;
    const auto c = reader.read(s_.space->place(mine_.segment), [&](const log::frame& f) {
      last = f.head.transaction;
      std::fill_n(taken.begin() + static_cast<ptrdiff_t>(f.position),
                  s_.layout.lines_of(f.head.size), true);
    });
    if (c.head) taken[0] = true;
    lines_ = static_cast<uint64_t>(std::count(taken.begin(), taken.end(), true));
    whole_ = c.head && c.head->lane == mine_.lane && c.head->epoch == mine_.session &&
             c.head->generation == mine_.generation && c.gaps == 0 && c.end == mine_.end &&
             c.frames == mine_.frames && last == mine_.last;
    suspect_.assign(pages(), false);
    for (uint64_t i = 0; i < mine_.end; ++i)
      if (!taken[i]) suspect_[i * log::line_size / page] = true;
  }
  uint64_t one_by_one() {
    uint64_t n = 0, tries = 0, best = lines_;
    const auto doubtful = suspect_;
    auto sound = taken_;
    for (uint64_t p = 0; p < pages() && !whole_ && tries < tries_max; ++p) {
      if (!doubtful[p] || !known_[p]) continue;
      ++tries;
      std::byte before[page];
      std::memcpy(before, bytes_.data() + p * page, page);
      replace(p);
      classify_lines();
      if (lines_ > best) {
        best = lines_;
        sound = taken_;
        ++n;
        continue;
      }
      std::memcpy(bytes_.data() + p * page, before, page);
      taken_ = sound;
    }
    classify_lines();
    return n;
  }

  const state& s_;
  const seal_member mine_;
  std::vector<std::byte> bytes_, others_;
  std::vector<bool> known_, suspect_;  // pages of others_; of bytes_
  // The lines of bytes_ that valid frames take; empty before classify_lines().
  std::vector<bool> taken_;
  uint64_t lines_ = 0;
  bool whole_ = false, head_lost_ = false;
  std::vector<std::vector<std::byte>> doubtful_;  // a page of each other member that is not whole
};

}  // namespace

bool cancel_out(const std::vector<std::vector<std::byte>>& pages) {
  struct row {
    std::vector<std::byte> bytes;
    size_t at;      // of the first byte that is not zero
    std::byte bit;  // one of its bits, which no later row has
  };
  const auto first_of = [](const std::vector<std::byte>& page) {
    return std::ranges::find_if(page, [](std::byte b) { return b != std::byte{0}; });
  };
  std::vector<row> rows;  // the pages, made independent of those before
  bool zeros = false;
  for (std::vector<std::byte> sum : pages) {
    if (first_of(sum) == sum.end()) {
      if (std::exchange(zeros, true)) return true;
      continue;
    }
    for (const row& r : rows)
      if ((sum[r.at] & r.bit) != std::byte{0})
        codec::xor_into(sum.data(), r.bytes.data(), sum.size());
    const auto first = first_of(sum);
    if (first == sum.end()) return true;
    const auto bits = static_cast<unsigned>(*first);
    const auto at = static_cast<size_t>(first - sum.begin());
    rows.push_back({std::move(sum), at, std::byte(bits & -bits)});
  }
  return false;
}

rebuilt rebuild(const state& s, uint32_t seal, const seal_table& t, uint32_t which) {
  return rebuilding(s, seal, t, which).run();
}

}  // namespace scute::core::pow
