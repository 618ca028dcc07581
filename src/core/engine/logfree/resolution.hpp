// SPDX-License-Identifier: BSD-3-Clause
// Brings the columns of a log-free pool, and the transactions that had them open, to a consistent
// state after a crash (CodePM section III-B: speculative and instant recovery;
// docs/internals/logfree.md, "Recovery").
//
// The pool is open meanwhile. Each column block has a bit: resolved or not. A thread that is about
// to write to an unresolved block resolves it first; a scan does the rest.
//
// RES-1 A block is resolved when all of its columns add up, durably, and each fragment in it that a
//    checksum vouches for is of a decided transaction. It never becomes unresolved again in this
//    session.
// RES-2 In an unresolved block only resolution writes, and one thread at a time runs its slow part.
//    A thread that finds that a block adds up notes it as sound. The slow part notes that it looks
//    at a block. Each then reads the other's note, so a fragment all of whose blocks are sound is
//    open to commits, and resolution leaves it alone.
// RES-3 Columns that add up hold no open cell: a window changes the header of every member, so
//    while its parity is not done the column of that header does not add up. The scan needs no
//    checksum there.
// RES-4 Columns that do not add up are explained by invalid fragments first, each decoded by
//    itself. Next come valid ones with a tag of an unresolved epoch whose columns decode to another
//    valid version. The columns that remain hold unowned bytes or torn parity of decided
//    transactions, and are recomputed. The table is core/engine/logfree/recovery_decision.hpp.
// RES-5 A complete ring is finished as a whole, block by block, before any thread may write one of
//    its members (LF-7). A member's parity is recomputed only where its own block shows that it is
//    missing. A complete ring stays complete, whatever becomes of its members. A ring with a member
//    that is lost, or whole and of another transaction, is broken permanently.
// RES-6 Rings count for every epoch since the last one that was resolved completely (superblock
//    resolved_epoch), so a crash before the scan is over loses nothing.
// RES-7 Resolution's writes are fenced under the stripe. Cut short anywhere, it leaves the same
//    questions with the same answers, or fewer of them (POOL-7): members that were rolled back
//    leave the ring broken, and of a ring that is being finished only parity is written.
// RES-8 If a process died and the machine did not, bytes that are seen may not be durable: stores
//    that were not written back, or not fenced. The bytes that an answer rests on are written back
//    and fenced before the answer counts. On a page-cache medium everything is, once, at the
//    beginning. (Found by the explorer.)
// RES-9 Nothing is recomputed on a guess. The columns of an invalid fragment that nothing has
//    restored yet keep their parity. So do those of a place whose first header is lost, and of a
//    page whose chunk header is lost: a fragment may lie there, which only the parity can restore.
// RES-10 A block may hold an invalid fragment, or one in doubt, that it cannot explain. Before it
//    gives up, it asks the other blocks that this fragment lies in, or that have its first header.
//    These explain what they can, and nothing is recomputed there.
// RES-11 A decision on a valid fragment is made once. Where several rows of parity disagree, each
//    of two versions decodes to the other one; without this rule resolution would alternate between
//    them for ever.
// RES-12 A transaction comes back as a whole or not at all, whatever else was damaged. Members with
//    which that is impossible are lost, and reported. The transaction was decided if a member of
//    its ring testifies to that. The first decision is kept.
// RES-13 A valid member in doubt cannot go back if its columns decode to no version before: they
//    have torn parity, of a decided transaction, or other damage. If all headers of the ring are
//    present, resolution assumes torn parity. Otherwise the member stays as it is, and the
//    others are rolled back (docs/internals/logfree.md, "Limits").
// RES-14 A search that failed, and a look of RES-10 at a block that explained nothing, is not
//    repeated while nothing that it rests on has changed. That is: resolution has written nothing,
//    no hint (core/repair/erasure/erasure_search.hpp) is new, and nothing was repaired. For a
//    search, also the fragment's bytes and the syndromes of its columns are the same.
//
// On RES-2: if the slow part has looked first, the other thread waits for it before the block
// counts as resolved. (Found by an attack from outside: the slow part made a block add up and
// continued to look at it. So it rolled objects back in the middle of an in-place edit, and
// reported them as damaged.)
//
// On RES-5: a writer of a member asks for the whole ring, even where its own columns add up. An
// earlier session may have resolved the block of another member, and a transaction that has no part
// in the ring may have opened a window there since. (Found by the explorer.)
//
// On RES-8: an answer rests on the parity of a block that adds up, whose data was durable before
// any of that parity was stored. It also rests on the members of a ring that is found to be
// complete, and on the bytes whose parity is recomputed.
//
// On RES-9: which columns do not add up is determined in that block alone, after everything in it
// was asked. (Found by an attack from outside: a row of noise, then reads at once. Threads that
// resolved the blocks of further fragments did not find these fragments, since the first headers of
// their objects had not come back yet.)
//
// On RES-10: a member decodes only if nothing else in any of its columns is damaged. A fragment is
// reported as lost when the last of its blocks is resolved; or at the end, if that block added up.
//
// On RES-11: found by the explorer, scenario fragments/logfree2, while rings through further
// fragments looked broken.
//
// On RES-12: a member testifies by its header's columns, which have the new parity, even if its
// payload is damaged. If the ring is closed, a valid member that cannot go back testifies too
// (RES-13). A damaged member of a decided transaction is lost if its columns cannot restore its new
// version. The parity of its columns is then recomputed, so that no thread takes the version before
// for a repair. Everything else that is invalid in these columns is repaired first.
//
// On RES-13: if torn parity was assumed wrongly, the torn members are lost: that is better than
// half of a transaction without a report. If the member stays as it is, the parity of its columns
// is recomputed, and testifies to nothing. A further fragment of a place that held no object before
// says nothing: its head goes back.
//
// On RES-14: in a file that is damaged all over every block asks all of its neighbours, whose
// searches fail each time, at thousands of checksums each.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "base/locks/lock.hpp"
#include "base/locks/waiting.hpp"
#include "core/engine/logfree/crash_or_damage.hpp"
#include "core/repair/erasure/decode_candidates.hpp"
#include "core/repair/erasure/erasure_search.hpp"
#include "core/shared/fragment.hpp"
#include "core/shared/parity/columns.hpp"
#include "core/shared/parity/failed_searches.hpp"
#include "core/shared/resolver.hpp"

namespace scute::core::engine {

class resolution final : public pool::resolver {
 public:
  // Everything up to epoch `resolved` is resolved; tags of later epochs before `present` are not.
  resolution(pool::state& s, uint64_t resolved, uint64_t present);

  void before_write(uint64_t offset, uint64_t length) override;
  void before_change(const pool::fragment& f) override;
  void before_read(const pool::fragment& f) override;
  void before_overwrite(uint64_t offset, uint64_t length) override;
  void before_reuse(uint64_t offset, uint64_t length) override;

  bool scan(uint64_t blocks) override;
  void finish() noexcept override;
  progress done() const noexcept override {
    return {total_, done_.load(std::memory_order_relaxed)};
  }
  // Damage is counted elsewhere (core/engine/logfree/crash_or_damage.hpp).
  outcome traces() const noexcept override {
    return {rolled_back_.load(std::memory_order_relaxed),
            finished_.load(std::memory_order_relaxed)};
  }
  // Searches that were made for versions of a fragment. Those that RES-14 spares do not count.
  uint64_t searches() const noexcept { return searches_.load(std::memory_order_relaxed); }

 private:
  class solving;
  static constexpr uint64_t block_size = pool::column_block;
  enum class what : uint8_t {
    claimed,  // by a first header
    place,    // may hold a member of a ring, or nothing (core/repair/page_layout.hpp, LAYOUT-2)
    unknown   // the header that would describe it is lost
  };
  struct found {
    pool::fragment fragment;
    uint64_t object;
    what is;
    uint64_t from = 0, length = 0;  // unknown: the bytes that a lost chunk header would describe
  };
  struct block_number {
    uint64_t zone, block;
    bool operator==(const block_number&) const = default;
  };
  // The part of a block that no decision explains.
  struct remains {
    bool adds_up = false;
    std::vector<found> open;  // invalid, and neither of its versions is known
    std::vector<found>
        doubtful;  // valid, in doubt, in columns that do not add up and decode to no other version
    std::byte syndrome[pool::syndrome_max];
  };

  format::fragment_header header_at(uint64_t offset) const noexcept;
  void change_all(uint64_t offset, uint64_t length);
  using bitmap = std::unique_ptr<std::atomic<uint64_t>[]>;
  bool is_set(const bitmap& bits, uint64_t zone, uint64_t block) const noexcept;
  bool set(bitmap& bits, uint64_t zone, uint64_t block) noexcept;  // false if it was
  bool is_resolved(uint64_t zone, uint64_t block) const noexcept {
    return is_set(resolved_bits_, zone, block);
  }
  bool is_sound(uint64_t zone, uint64_t block) const noexcept {
    return is_set(sound_bits_, zone, block);
  }
  // Called by the slow part: notes that it looks at the block. True if the block is sound, and so
  // no longer resolution's (RES-2).
  bool is_over(uint64_t zone, uint64_t block) noexcept;
  bool is_left_alone(const pool::fragment& f) noexcept;
  void mark(uint64_t zone, uint64_t block) noexcept;
  void resolve(uint64_t zone, uint64_t block);
  void resolve_with_rings(uint64_t zone, uint64_t block) SCUTE_REQUIRES(mutex_);
  void resolve_dirty(uint64_t zone, uint64_t block) SCUTE_REQUIRES(mutex_);
  remains explain_block(uint64_t zone, uint64_t block) SCUTE_REQUIRES(mutex_);
  bool help(uint64_t zone, uint64_t block, const remains& left) SCUTE_REQUIRES(mutex_);
  void look_at(uint64_t zone, uint64_t block) SCUTE_REQUIRES(mutex_);
  // As in core/repair/erasure/decode_candidates.hpp, within the limits of RES-14.
  bool find_sound(const pool::fragment& f, std::vector<std::byte>& image) SCUTE_REQUIRES(mutex_);
  bool find_other(const pool::fragment& f, repair::decode_candidate& other) SCUTE_REQUIRES(mutex_);
  template <typename Search>
  bool search(const pool::fragment& f, pool::failed_searches& failed, Search&& succeeds)
      SCUTE_REQUIRES(mutex_);
  uint64_t fingerprint(const pool::fragment& f) const;
  uint64_t changes() const SCUTE_REQUIRES(mutex_);
  std::vector<block_number> blocks_of(const pool::fragment& f) const;
  bool all_resolved_but(uint64_t zone, uint64_t block, const pool::fragment& f) const;
  void flush_parity(uint64_t zone, uint64_t block, medium::writer& w);
  bool in_doubt(uint64_t tag) const noexcept;
  bool is_of_this_session(uint64_t tag) const noexcept;
  auto in_doubt_test() const {
    return [this](uint64_t tag) { return in_doubt(tag); };
  }
  bool ours() const noexcept {
    return solver_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

  // Whether valid first headers, which say where an object's further fragments are, are believed.
  enum class first_headers : uint8_t { are_believed, are_explained };
  std::vector<found> fragments_in(uint64_t zone, uint64_t block, first_headers valid)
      SCUTE_REQUIRES(mutex_);
  bool repair(const pool::fragment& f) SCUTE_REQUIRES(mutex_);
  bool explain(const pool::fragment& f) SCUTE_REQUIRES(mutex_);
  bool ring_complete(const pool::fragment& f) SCUTE_REQUIRES(mutex_);
  bool is_decided(const pool::fragment& f, const format::fragment_header& stored)
      SCUTE_REQUIRES(mutex_);
  bool testifies(uint64_t header) const noexcept;
  bool was_there(const pool::fragment& m) SCUTE_REQUIRES(mutex_);
  bool cannot_go_back(const pool::fragment& m) SCUTE_REQUIRES(mutex_);
  void repair_neighbours(const pool::fragment& f) SCUTE_REQUIRES(mutex_);
  void lose(const pool::fragment& f) SCUTE_REQUIRES(mutex_);
  void report_lost(const pool::fragment& f);
  void finish_ring(const pool::fragment& f) SCUTE_REQUIRES(mutex_);
  void finish_others(const pool::fragment& f) SCUTE_REQUIRES(mutex_);
  std::vector<pool::fragment> not_finished(const pool::fragment& f, bool& closed)
      SCUTE_REQUIRES(mutex_);
  // Whether a walk passes over an invalid member, or repairs it, which takes the mutex.
  enum class invalid_member : uint8_t { pass, repair };
  // The members as long as the ring continues with the same tag. False if it does not close; `end`
  // is then the place where it ended.
  bool walk(const pool::fragment& f, invalid_member invalid, std::vector<pool::fragment>& members,
            uint64_t& end);
  bool repair_at(uint64_t header);
  bool repair_with_help(const pool::fragment& f) SCUTE_REQUIRES(mutex_);
  void write(uint64_t offset, const std::byte* bytes, uint64_t length) SCUTE_REQUIRES(mutex_);
  void recompute(uint64_t zone, uint64_t column, uint64_t length) SCUTE_REQUIRES(mutex_);
  void recompute_as_it_is(uint64_t zone, uint64_t column, uint64_t length) SCUTE_REQUIRES(mutex_);
  void recompute_rest(uint64_t zone, uint64_t block, const remains& left) SCUTE_REQUIRES(mutex_);

  pool::state& s_;
  const uint64_t resolved_, present_;
  const crash_or_damage crash_or_damage_;
  uint64_t per_zone_ = 0, total_ = 0;
  bool synced_ = false;  // RES-8: everything is durable
  bitmap sound_bits_, seen_bits_, resolved_bits_;
  std::atomic<uint64_t> done_{0}, next_{0};
  std::atomic<uint64_t> rolled_back_{0}, finished_{0};

  waiting_mutex mutex_;  // the slow part; taken without a stripe held
  std::atomic<std::thread::id> solver_{};
  medium::writer w_ SCUTE_GUARDED_BY(mutex_);
  // Blocks to be resolved along with the one that was asked for.
  std::vector<block_number> due_ SCUTE_GUARDED_BY(mutex_);
  // Fragments that were repaired, rolled back or finished.
  uint64_t explained_ SCUTE_GUARDED_BY(mutex_) = 0;
  bool helping_ SCUTE_GUARDED_BY(mutex_) = false;                // RES-10: no further
  std::set<uint64_t> decided_headers_ SCUTE_GUARDED_BY(mutex_);  // RES-11: headers
  std::set<uint64_t> losing_ SCUTE_GUARDED_BY(mutex_);           // RES-12: headers
  // RES-12: decisions about transactions, by tag.
  std::map<uint64_t, bool> decided_ SCUTE_GUARDED_BY(mutex_);
  // Rings that are complete, or broken, permanently, by tag.
  std::set<uint64_t> complete_ SCUTE_GUARDED_BY(mutex_), broken_ SCUTE_GUARDED_BY(mutex_);
  // Members that are durable and due: of complete rings by tag, of broken rings by header.
  std::set<uint64_t> finished_tags_ SCUTE_GUARDED_BY(mutex_), finished_headers_
      SCUTE_GUARDED_BY(mutex_);
  bool without_decisions_ SCUTE_GUARDED_BY(mutex_) =
      false;                                      // only what needs no decision is repaired
  bool asking_ SCUTE_GUARDED_BY(mutex_) = false;  // a decision waits for another block
  std::set<uint64_t> repairing_ SCUTE_GUARDED_BY(mutex_);  // headers
  std::set<uint64_t> computed_ SCUTE_GUARDED_BY(mutex_);   // RES-13: headers
  pool::erasure_hints hints_ SCUTE_GUARDED_BY(mutex_);
  // RES-14
  uint64_t writes_ SCUTE_GUARDED_BY(mutex_) = 0;
  pool::failed_searches no_sound_, no_other_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> hopeless_
      SCUTE_GUARDED_BY(mutex_);  // changes() then
  std::atomic<uint64_t> searches_{0};
  plain_mutex reporting_;
  // By header: fragments that were reported as lost, and those that may have to be.
  std::set<uint64_t> reported_ SCUTE_GUARDED_BY(reporting_);
  std::map<uint64_t, pool::fragment> unreported_ SCUTE_GUARDED_BY(reporting_);
};

}  // namespace scute::core::engine
