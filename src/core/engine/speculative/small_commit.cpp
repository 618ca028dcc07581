// SPDX-License-Identifier: BSD-3-Clause
// The short way of engine `spec`: a few small objects, changed, made or freed, as in nearly all
// transactions. It computes from the buffers here the data that the general way takes from patches.
// The frames, and their use, are the same.
#include <cstring>
#include <utility>

#include "core/engine/common/in_place.hpp"
#include "core/engine/speculative/speculative.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/tx/object_lock_guard.hpp"
#include "core/tx/small_changes.hpp"

namespace scute::core::engine {
namespace {

using change = tx::small_member::change;

}  // namespace

// Adds a part of a member, which becomes a record, and a piece for each column block.
void speculative::add_part(pool::lane& l, lane_state& mine, const tx::small_member& m,
                           uint64_t begin, uint64_t end, medium::purpose why) {
  mine.records.push_back(
      {m.header + begin, m.image + begin, end - begin, format::record_kind::data});
  while (begin < end) {
    const uint64_t n =
        std::min(end - begin, pool::column_block - (m.column + begin) % pool::column_block);
    const uint64_t at = m.header + begin;
    const uint64_t b = table_->number_of(at);
    l.pieces.push_back({at, m.parity + begin, m.image + begin, static_cast<uint32_t>(n),
                        table_->stripe_of(b), why});
    mine.blocks.push_back(b);
    begin += n;
  }
}

bool speculative::commit_short(pool::lane& l, std::span<const tx::small_member> members,
                               std::span<const tx::inplace_range> in_place, tx::slot_reclaimer*) {
  if (s_.medium->failed()) return false;
  if (in_place.empty() && room_->is_larger()) room_->shrink(l);
  tx::object_lock_guard locks(s_, l);
  for (const tx::small_member& m : members)
    if (m.what != change::fresh) locks.add(m.header + format::header_size);
  locks.take();
  lane_state& mine = lanes_[l.index];
  mine.start();
  mine.blocks.clear();
  l.pieces.clear();
  if (!in_place.empty()) {
    keep_in_place(s_, l, in_place);
    if (s_.has_checksums) renew_images(l, members, in_place);
    plan_in_place(mine, in_place);
    mine.blocks.assign(mine.pinned.begin(), mine.pinned.end());
  }
  for (const tx::small_member& m : members) {
    if (!tx::is_unchanged(s_, l, m)) return false;
    if (tx::writes_header(s_, m)) tx::seal_small(s_, l, m);
    const bool changes =
        tx::for_each_change(s_, m, [&](uint64_t begin, uint64_t end, medium::purpose why) {
          add_part(l, mine, m, begin, end, why);
        });
    // With checksums, nothing to change may mean that another transaction has made the same change.
    if (!changes && s_.has_checksums) return false;
  }
  if (mine.records.empty()) return true;
  room_->help();
  commit_log::stream_guard turn(*log_);
  make_room(l, mine, turn, growth::allowed);
  decide(l, mine, turn, 0, how::cached, in_place);
  l.w.count.shorts.add(1);
  s_.require_healthy();
  if (mine.reserved != 0) end_reservation(l, mine);
  s_.watch.deferred();
  return true;
}

}  // namespace scute::core::engine
