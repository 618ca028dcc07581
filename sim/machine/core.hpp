// SPDX-License-Identifier: BSD-3-Clause
// One core: an interval model. Each operation is dispatched when there is room in the reorder
// buffer, begins when what it needs is there, and retires in order; stores leave a store buffer in
// order (TSO). An operation waits only for its dependences: the number of units is unlimited.
//
// CORE-1 Stores, non-temporal ones aside, are made in the order of the program, and after their
//        operation has retired.
// CORE-2 A write-back takes the line as the stores before it have left it.
// CORE-3 A fence ends when all stores are made and all write-backs and non-temporal stores before
//    it are durable; no later store is made before. Whether what else follows waits, too, is a
//    number of the machine.
// CORE-4 A load of what a store has left in the store buffer has it from there, not before the
//    store's data is known (nor, on some machines, before its line has come); of a part of it and
//    something else, it waits until the store is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "machine/branches.hpp"
#include "machine/caches.hpp"
#include "machine/memory.hpp"
#include "machine/operation.hpp"
#include "machine/settings.hpp"

namespace scute::sim {

class core {
 public:
  core(unsigned number, const settings& s, caches& c, memory& m);

  // The next instruction of the program.
  void run(const operation& op, std::span<const reference> refs) {
    ++count_.instructions;
    dispatch_ = latest(dispatch_ + slot_, reorder_[reorder_next_]);
    const ticks begins = known(op);
    const ticks done = ready(op, begins);
    if (op.kind != operation_kind::plain)
      finish_other(op, refs, begins, done);
    else if (!refs.empty())
      finish_plain(op, refs, begins, done);
    else
      retire(op, done + op.cycles * cycle_);
  }
  // A block of instructions was entered at that address, from one that ended so. An entry that was
  // not foreseen costs time.
  void enter_block(uint64_t address, const block_end& before) {
    if (mispredict_ != 0 && !branches_.foresees(before, address)) mispredicted();
  }

  // For schemes. The core does nothing before that time; later stores are made later still.
  void wait(ticks until) noexcept;
  // That many cycles of other work.
  void spend(uint64_t cycles) noexcept { wait_retired(retired_ + cycles * cycle_); }
  // A line that the program did not store through the caches is on its way: fences wait for it.
  void pending(ticks durable) noexcept { flushed_ = durable > flushed_ ? durable : flushed_; }
  // When all stores so far are made.
  ticks drained() const noexcept { return drained_ > retired_ ? drained_ : retired_; }

  // When the last instruction retired.
  ticks now() const noexcept { return retired_; }
  // When everything so far is over.
  ticks end() const noexcept { return drained(); }
  unsigned number() const noexcept { return number_; }

  struct counts {
    uint64_t instructions = 0, loads = 0, stores = 0, write_backs = 0, fences = 0, mispredicted = 0,
             streamed = 0,  // lines that non-temporal stores have sent
        forwarded = 0;      // loads that had their bytes from the store buffer
    ticks fenced = 0;       // spent in fences
  };
  const counts& counted() const noexcept { return count_; }

 private:
  struct held {
    uint64_t address = 0, bytes = 0;
    ticks ready = 0, made = 0;
  };
  struct combining {
    uint64_t line;
    uint64_t mask;
    ticks last;
  };

  // An operation that begins at that time, and has all that it needs besides memory at `done`.
  void finish_plain(const operation& op, std::span<const reference> refs, ticks begins, ticks done);
  void finish_other(const operation& op, std::span<const reference> refs, ticks begins, ticks done);
  // When an operation that is dispatched now knows its addresses.
  ticks known(const operation& op) const noexcept {
    return latest(dispatch_, ready_[op.address[0]], ready_[op.address[1]]);
  }
  ticks ready(const operation& op, ticks known) const noexcept {
    return latest(known, latest(ready_[op.from[0]], ready_[op.from[1]]),
                  latest(ready_[op.from[2]], ready_[op.from[3]]));
  }
  void retire(const operation& op, ticks done) noexcept {
    ready_[op.to[0]] = done;
    ready_[op.to[1]] = done;
    retired_ = latest(retired_ + slot_, done);
    reorder_[reorder_next_] = retired_;
    reorder_next_ = reorder_next_ + 1 == reorder_.size() ? 0 : reorder_next_ + 1;
  }
  void mispredicted() noexcept;
  void wait_retired(ticks until) noexcept;
  ticks load(const reference& r, ticks at);
  void store(const reference& r, ticks known, ticks ready, bool stream);
  void make_store(uint64_t address, unsigned bytes, ticks known, ticks ready);
  // The store of these bytes to that word, if it is not made at that time, or null.
  const held* held_at(const reference& r, uint64_t word, ticks at) const noexcept;
  // The place in the store buffer that is next, until then.
  void hold_store(ticks made) noexcept;
  void combine(uint64_t address, unsigned bytes);
  void send(combining& c);
  void send_all();
  // Sends the gathered stores of a line before an operation uses the line through the caches.
  void send_line(uint64_t line);

  unsigned number_;
  caches& caches_;
  memory& memory_;
  ticks cycle_, slot_, mispredict_, lock_, forward_, l1_time_;
  bool fence_holds_, forward_cold_;
  std::vector<ticks> reorder_, stores_;
  size_t reorder_next_ = 0, store_next_ = 0;
  ticks dispatch_ = 0, retired_ = 0, drained_ = 0, flushed_ = 0;
  ticks ready_[operation::registers] = {};
  std::vector<combining> combining_;
  // The last store to each word: the word and the store, where the word's number puts both.
  std::vector<uint64_t> held_words_;
  std::vector<held> held_;
  branches branches_;
  counts count_;
};

}  // namespace scute::sim
