// SPDX-License-Identifier: BSD-3-Clause
// Decides a block with the help of other blocks, before it is given up (RES-10), and skips searches
// that would find the same again (RES-14).
#include "codec/checksum/checksum.hpp"
#include "core/engine/logfree/extents.hpp"
#include "core/engine/logfree/resolution.hpp"
#include "core/repair/erasure/hybrid_decode.hpp"
#include "core/repair/page_layout.hpp"

namespace scute::core::engine {

// RES-10. Returns true if anything was repaired in the other blocks that these fragments lie in, or
// that have their first headers.
bool resolution::help(uint64_t zone, uint64_t block, const remains& left) {
  if (helping_ || (left.open.empty() && left.doubtful.empty())) return false;
  helping_ = true;
  struct end {
    bool& helping;
    ~end() { helping = false; }
  } const when_done{helping_};
  const uint64_t before = explained_;
  std::set<std::pair<uint64_t, uint64_t>> seen{{zone, block}};
  const auto look = [&](const pool::fragment& f) {
    for (const repair::unit& u : repair::units_of(f))
      for_each_part(s_.geo, u.offset, u.length, [&](uint64_t, uint64_t z, uint64_t c, uint64_t) {
        mutex_.assume_held();
        const uint64_t b = c / block_size;
        if (seen.insert({z, b}).second && !is_over(z, b)) look_at(z, b);
      });
  };
  for (const found& x : left.open) {
    look(x.fragment);
    if (x.fragment.index != 0) look(repair::first_of(x.fragment));
  }
  for (const found& x : left.doubtful) look(x.fragment);
  return explained_ != before;
}

// Only resolution writes in an unresolved block (RES-2).
void resolution::look_at(uint64_t zone, uint64_t block) {
  const uint64_t before = changes();
  const auto known = hopeless_.find({zone, block});
  if (known != hopeless_.end() && known->second == before) return;
  const uint64_t explained = explained_;
  explain_block(zone, block);
  if (explained_ == explained) hopeless_[{zone, block}] = before;
}

// None of the counters ever goes back, so an equal sum means that none of them has changed.
uint64_t resolution::changes() const {
  return writes_ + hints_.changes() + s_.repaired.load(std::memory_order_acquire);
}

uint64_t resolution::fingerprint(const pool::fragment& f) const {
  alignas(64) std::byte syndrome[pool::syndrome_max];
  uint32_t sum = 0;
  for (const repair::unit& u : repair::units_of(f))
    for_each_part(
        s_.geo, u.offset, u.length, [&](uint64_t at, uint64_t zone, uint64_t column, uint64_t n) {
          pool::column_syndrome(s_, zone, column, n, syndrome);
          for (const std::byte* bytes : {s_.at(at), syndrome}) {
            const uint64_t length = bytes == syndrome ? s_.geo.parity * n : n;
            sum = codec::checksum(codec::checksum_kind::crc32c, &sum, sizeof sum, bytes, length);
          }
        });
  return sum;
}

template <typename Search>
bool resolution::search(const pool::fragment& f, pool::failed_searches& failed, Search&& succeeds) {
  // Read before the search: new hints of the search, or changes by others meanwhile, justify
  // another search.
  const uint64_t before = changes(), sum = fingerprint(f);
  if (failed.known(f.header, before, sum)) return false;
  searches_.fetch_add(1, std::memory_order_relaxed);
  if (succeeds()) return true;
  failed.add(f.header, before, sum);
  return false;
}

bool resolution::find_sound(const pool::fragment& f, std::vector<std::byte>& image) {
  return search(f, no_sound_, [&] {
    mutex_.assume_held();
    return repair::find_sound(s_, f, in_doubt_test(), image, &hints_);
  });
}

bool resolution::find_other(const pool::fragment& f, repair::decode_candidate& other) {
  return search(f, no_other_, [&] {
    mutex_.assume_held();
    return repair::find_other(s_, f, in_doubt_test(), other, &hints_);
  });
}

}  // namespace scute::core::engine
