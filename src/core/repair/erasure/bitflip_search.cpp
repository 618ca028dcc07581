// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/erasure/bitflip_search.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

#include "base/rounding.hpp"
#include "codec/checksum/checksum.hpp"
#include "codec/checksum/crc32c.hpp"
#include "core/repair/page_layout.hpp"
#include "core/shared/optimistic.hpp"

namespace scute::core::repair {
namespace {

constexpr size_t variants_max = 64, runs_max = 512;
// BITFLIP-5
constexpr size_t beside_fragments_max = 256, crowd = 3;
constexpr int rounds_max = 4;

void change(std::vector<std::byte>& image, const syndrome_run& x, size_t which) noexcept {
  const std::vector<std::byte>& by = x.changes[which];
  for (size_t k = 0; k < by.size(); ++k) image[x.at + k] ^= by[k];
}

// The costs 0 to c - 1 have at most `attempts` choices together; returns the greatest such c. Cost
// 0 takes each syndrome run the likeliest way, cost 1 takes one of them another way, and so on; run
// i has others(i) other ways.
template <typename Others>
size_t costs_within(size_t runs, Others&& others, uint64_t attempts) {
  std::array<uint64_t, 65> count{1};  // higher costs are not counted
  const size_t most = std::min(runs, count.size() - 1);
  for (size_t i = 0; i < runs; ++i)
    for (size_t cost = std::min(i + 1, most); cost != 0; --cost)
      count[cost] = std::min(count[cost] + count[cost - 1] * others(i), attempts + 1);
  uint64_t all = 0;
  size_t costs = 0;
  while (costs <= most && all + count[costs] <= attempts) all += count[costs++];
  return costs;
}

}  // namespace

bitflip_search::bitflip_search(pool::state& s, const pool::fragment& f, syndromes& sums,
                               std::vector<uint16_t> damaged, size_t blank)
    : s_(s), f_(f), sums_(sums), damaged_(std::move(damaged)), blank_(blank), units_(units_of(f)) {
  kept_.resize(units_.back().at + units_.back().length);
  const pool::optimistic_reads mark;
  for (const unit& u : units_) {
    std::memcpy(&kept_[u.at], s.at(u.offset), u.length);
    s.overlaid.substitute(u.offset, &kept_[u.at], u.length);
  }
}

uint32_t bitflip_search::covered(const bytes& image) const noexcept {
  return pool::covered(s_, f_, header_of(image));
}

// Makes every choice for the syndrome runs of the header.
void bitflip_search::choose_header(search& x, size_t i, size_t cost) {
  if (i < x.first) {
    for (size_t k = 0; k < x.runs[i].changes.size(); ++k) {
      x.chosen[i] = k;
      choose_header(x, i + 1, cost + (k == 0 ? 0 : 1));
    }
    return;
  }
  variant v{{kept_.begin(), kept_.begin() + header_end}, cost, 0, 0, {}};
  for (size_t k = 0; k < x.first; ++k) change(v.header, x.runs[k], x.chosen[k]);
  if (complete(x, v)) x.headers.push_back(std::move(v));
}

// BITFLIP-1. Returns false if this cannot be the header, or a sum is no CRC (BITFLIP-6).
bool bitflip_search::complete(search& x, variant& v) {
  const format::fragment_header h = header_of(v.header);
  v.length = covered(v.header);
  if (v.length == pool::not_covered ||
      pool::checksum_kind(s_, f_, v.length) != codec::checksum_kind::crc32c)
    return false;
  const size_t end = header_end + v.length;
  bytes likeliest = kept_;
  for (size_t i = x.first; i < x.runs.size() && x.runs[i].at < end; ++i) {
    const syndrome_run& g = x.runs[i];
    change(likeliest, g, 0);
    const size_t n = std::min(g.length, end - g.at);
    const bytes none(g.length);
    const auto bytes_of = [&](size_t k) { return g.changes[k].empty() ? &none : &g.changes[k]; };
    std::vector<uint32_t>& words = v.words.emplace_back();
    for (size_t k = 1; k < g.changes.size(); ++k)
      words.push_back(codec::checksum_update(codec::checksum_kind::crc32c, 0, bytes_of(0)->data(),
                                             bytes_of(k)->data(), n,
                                             end - g.at - n + format::header_tail));
  }
  v.wanted = pool::unbind(h.checksum, f_.header) ^
             pool::unbind(pool::header_checksum(s_, f_, h, likeliest.data() + header_end, v.length),
                          f_.header);
  return true;
}

void bitflip_search::accept(const search& x, const variant& v) {
  bytes image = kept_;
  std::copy(v.header.begin(), v.header.end(), image.begin());
  for (size_t i = 0; i < v.words.size(); ++i)
    change(image, x.runs[x.first + i], x.chosen[x.first + i]);
  if (!image_valid(s_, f_, image) || (found_ != 0 && image == image_)) return;
  image_ = std::move(image);
  ++found_;
}

// Makes choices that cost `left` more, from the payload's syndrome run i on.
void bitflip_search::choose(search& x, const variant& v, size_t i, size_t left, uint32_t sum) {
  if (left == 0) {
    ++attempts_;
    if (sum == v.wanted) accept(x, v);
    return;
  }
  for (; i + left <= v.words.size(); ++i) {
    for (size_t k = 0; k < v.words[i].size(); ++k) {
      x.chosen[x.first + i] = k + 1;
      choose(x, v, i + 1, left - 1, sum ^ v.words[i][k]);
    }
    x.chosen[x.first + i] = 0;
  }
}

// The average number of runs per cell that may be damaged: this fragment's cell, those of the
// others, blank ones, and a parity.
size_t bitflip_search::of_each_cell(size_t runs) const noexcept {
  const size_t cells = damaged_.size() + blank_ + 2;
  return (runs + cells / 2) / cells;
}

// BITFLIP-4: choices have to reach this cost to be of any use.
size_t bitflip_search::least_cost(size_t runs) const noexcept {
  return s_.geo.parity > 1 ? 0 : std::max<size_t>(1, of_each_cell(runs));
}

// The largest number of syndrome runs that is of any use.
size_t bitflip_search::most_runs(uint64_t attempts) const noexcept {
  if (s_.geo.parity > 1) return runs_max;
  const auto one = [](size_t) { return uint64_t{1}; };
  size_t n = 1;
  for (size_t step = runs_max / 2; step != 0; step /= 2)
    if (costs_within(n + step, one, attempts) > least_cost(n + step)) n += step;
  return n;
}

// Searches one way to cut, with at most so many attempts.
void bitflip_search::look(const std::vector<syndrome_run>& runs, uint64_t attempts) {
  search x{runs, 0, {}, std::vector<size_t>(runs.size())};
  size_t variants = 1;
  while (x.first < runs.size() && runs[x.first].at < header_end && variants <= variants_max)
    variants *= runs[x.first++].changes.size();
  if (variants > variants_max) return;
  choose_header(x, 0, 0);
  std::fill(x.chosen.begin(), x.chosen.end(), 0);

  // BITFLIP-2, BITFLIP-4. Headers that do not fit in form count as well; bytes after the ones that
  // any header vouches for do not.
  size_t used = x.first;
  for (const variant& v : x.headers) used = std::max(used, x.first + v.words.size());
  const size_t costs =
      costs_within(used, [&](size_t i) { return runs[i].changes.size() - 1; }, attempts);
  if (costs <= least_cost(used)) return;
  for (size_t cost = 0; cost < costs; ++cost)
    for (const variant& v : x.headers)
      if (cost >= v.cost) choose(x, v, 0, cost - v.cost, 0);
}

bool bitflip_search::find(uint64_t attempts) {
  found_ = 0;
  attempts_ = 0;
  const auto [ways, too_many] =
      cut_into_syndrome_runs(s_, units_, sums_, damaged_, most_runs(attempts));
  crowded_ = too_many || (ways.size() > 1 && of_each_cell(ways[1].size()) >= crowd);
  // An eighth of the attempts for clusters: there are few clusters if they are the right way to
  // cut.
  for (size_t i = 0; i < ways.size(); ++i) {
    const uint64_t left = attempts - attempts_;
    look(ways[i], i + 1 == ways.size() ? left : i == 0 ? left / 8 : left / 3 * 2);
  }
  return found_ == 1;
}

uint64_t bitflip_search::fingerprint() {
  uint32_t sum = 0;
  for (const unit& u : units_) {
    std::vector<syndromes::of_column> columns(u.length);
    sums_.read(u.offset, columns);
    sum = codec::crc32c(sum, columns.data(), columns.size() * sizeof columns[0]);
  }
  return uint64_t{sum} << 32 | codec::crc32c(0, kept_.data(), kept_.size());
}

void bitflip_search::take_out() {
  for (const unit& u : units_) {
    bytes wrong(u.length);
    for (size_t k = 0; k < u.length; ++k) wrong[k] = kept_[u.at + k] ^ image_[u.at + k];
    sums_.take_out(u.offset, wrong);
  }
}

namespace {

// Everything else that may be damaged in the columns of a fragment.
struct surroundings {
  std::vector<pool::fragment> damaged;  // fragments that fail their checksums
  size_t blank = 0;                     // rows' worth of bytes that no checksum vouches for
};

surroundings look_around(const pool::state& s, const pool::fragment& f) {
  const auto& g = s.geo;
  surroundings found;
  std::set<uint64_t> seen{f.header};
  uint64_t blank = 0, own_length = 0;
  const pool::optimistic_reads mark;
  for (const unit& u : units_of(f)) {
    if (u.length == 0) continue;
    own_length += u.length;
    const pool::cell own = pool::cell_of(g, u.offset);
    const uint64_t end = s.used_end[own.zone].load(std::memory_order_acquire);
    // The number of bytes in the unit's columns that a range has in the row at file offset `from`.
    const auto common = [&](uint64_t from, uint64_t offset, uint64_t length) {
      const uint64_t begin = std::max(from, offset);
      const uint64_t stop = std::min(from + u.length, offset + length);
      return begin < stop ? stop - begin : 0;
    };
    for (uint64_t row = 0; row < g.rows; ++row) {
      const uint64_t inside = row * g.row_size + own.column;
      if (row == own.row || inside >= end) continue;
      const uint64_t from = g.zone_offset(own.zone) + inside;
      uint64_t known = 0;  // bytes that a checksum accepts, or is known to refuse
      for_each_place(s, round_down(from, format::page), [&](const fragment_in_page& p) {
        const pool::fragment& x = p.fragment;
        if (common(from, x.header, header_end) + common(from, x.payload, x.room) == 0) return;
        format::fragment_header h;
        const bool sound = pool::valid(s, x, h);
        if (!p.claimed && (sound || pool::valid(s, first_of(x)))) return;
        known += common(from, x.header, header_end) +
                 common(from, x.payload, sound ? pool::covered(s, x, h) : x.room);
        if (!sound && seen.insert(x.header).second) found.damaged.push_back(x);
      });
      blank += u.length - std::min<uint64_t>(known, u.length);
    }
  }
  if (own_length != 0) found.blank = (blank + own_length / 2) / own_length;
  return found;
}

std::vector<uint16_t> rows_of(const pool::state& s, const std::vector<pool::fragment>& fragments,
                              const pool::fragment& but) {
  std::set<uint16_t> rows;
  for (const pool::fragment& f : fragments) {
    if (f.header == but.header) continue;
    for (const unit& u : units_of(f))
      if (u.length != 0) rows.insert(static_cast<uint16_t>(pool::cell_of(s.geo, u.offset).row));
  }
  return {rows.begin(), rows.end()};
}

}  // namespace

bool find_bitflips(pool::state& s, const pool::fragment& f, std::vector<std::byte>& image,
                   pool::failed_searches* failed) {
  if (!s.has_parity) return false;
  syndromes sums(s);
  const uint64_t repairs = s.repaired.load(std::memory_order_relaxed);
  const uint64_t fingerprint = failed == nullptr ? 0 : bitflip_search(s, f, sums, {}).fingerprint();
  if (failed != nullptr && failed->known(f.header, repairs, fingerprint)) return false;
  auto [beside, blank] = look_around(s, f);
  bool crowded = false;
  const auto found = [&](uint64_t attempts) {
    bitflip_search x(s, f, sums, rows_of(s, beside, f), blank);
    const bool ok = x.find(attempts);
    crowded = x.crowded();
    if (ok) image = x.image();
    return ok;
  };
  const bool alone = beside.empty() || beside.size() > beside_fragments_max;
  // If other fragments are damaged, first with a quarter of the attempts. Then with the rest, if
  // damage of the others was found, without that damage.
  if (found(alone ? bitflip_search::attempts_max : bitflip_search::attempts_max / 4)) return true;
  if (!alone && !crowded) {
    beside.push_back(f);  // the others must count it as damaged, too
    bool any = false, more = true;
    for (int round = 0; more && round < rounds_max; ++round) {
      more = false;
      for (size_t i = 0; i + 1 < beside.size(); ++i) {
        bitflip_search x(s, beside[i], sums, rows_of(s, beside, beside[i]), blank);
        if (!x.find(bitflip_search::neighbours_max)) continue;
        x.take_out();
        beside.erase(beside.begin() + static_cast<ptrdiff_t>(i--));
        more = any = true;
      }
    }
    if (any && found(bitflip_search::attempts_max / 4 * 3)) return true;
  }
  if (failed != nullptr) failed->add(f.header, repairs, fingerprint);
  return false;
}

}  // namespace scute::core::repair
