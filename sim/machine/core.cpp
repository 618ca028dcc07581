// SPDX-License-Identifier: BSD-3-Clause
#include "machine/core.hpp"

#include <algorithm>

namespace scute::sim {
namespace {

constexpr size_t held_max = 1U << 10, combining_max = 10;

}  // namespace

core::core(unsigned number, const settings& s, caches& c, memory& m)
    : number_(number),
      caches_(c),
      memory_(m),
      cycle_(from_ns(1 / s.core_ghz)),
      slot_(std::max<ticks>(1, cycle_ / s.width)),
      mispredict_(cycle_ * s.mispredict),
      lock_(cycle_ * s.lock_cycles),
      forward_(cycle_ * s.forward),
      l1_time_(cycle_ * s.l1_cycles),
      fence_holds_(s.fence_holds),
      forward_cold_(s.forward_cold),
      reorder_(s.reorder),
      stores_(s.store_buffer),
      held_words_(held_max, UINT64_MAX),
      held_(held_max) {}

void core::wait_retired(ticks until) noexcept {
  retired_ = std::max(retired_, until);
}

void core::wait(ticks until) noexcept {
  wait_retired(until);
  drained_ = std::max(drained_, until);
}

void core::mispredicted() noexcept {
  ++count_.mispredicted;
  // The branch has to be computed before the right path begins.
  dispatch_ = std::max(dispatch_, std::min(retired_, dispatch_ + mispredict_)) + mispredict_;
}

inline const core::held* core::held_at(const reference& r, uint64_t word, ticks at) const noexcept {
  if (held_words_[word % held_max] != word) return nullptr;
  const held& h = held_[word % held_max];
  const bool overlaps = h.address < r.address + r.bytes && r.address < h.address + h.bytes;
  return overlaps && h.made > at ? &h : nullptr;
}

ticks core::load(const reference& r, ticks at) {
  ++count_.loads;
  const uint64_t last = r.address + r.bytes - 1;
  if (!combining_.empty()) send_line(line_of(r.address));
  ticks done = caches_.access(number_, r.address, false, at).done;
  for (uint64_t line = line_of(r.address) + 1; line <= line_of(last); ++line)
    done = std::max(done, caches_.access(number_, line * line_bytes, false, at).done);
  const uint64_t first_word = r.address / 8, last_word = last / 8;
  const held* const first = held_at(r, first_word, at);
  const held* const second = first_word == last_word ? nullptr : held_at(r, last_word, at);
  if (first == nullptr && second == nullptr) return done;
  const held& from = first != nullptr ? *first : *second;
  if (from.address <= r.address && last < from.address + from.bytes) {
    ++count_.forwarded;
    const ticks forwarded = std::max(at, from.ready) + forward_;
    return forward_cold_ || done <= at + l1_time_ ? forwarded : std::max(done, forwarded);
  }
  for (const held* const h : {first, second})
    if (h != nullptr) done = std::max(done, h->made + l1_time_);
  return done;
}

void core::make_store(uint64_t address, unsigned bytes, ticks known, ticks ready) {
  ++count_.stores;
  if (!combining_.empty()) send_line(line_of(address));
  // Ownership is asked for as soon as the address is known.
  const caches::result r = caches_.access(number_, address, true, known);
  ticks made = latest(r.done, retired_, drained_ + slot_);
  if (caches_.watch != nullptr && memory_.is_persistent(line_of(address))) {
    tlb_page& page = caches_.page(number_, address);
    made = std::max(made, caches_.watch->storing(number_, address, bytes, *r.line, page, made));
  }
  r.line->dirty = true;
  r.line->written = latest(r.line->written, made);
  drained_ = made;
  hold_store(made);
  for (uint64_t word = address / 8; word <= (address + bytes - 1) / 8; ++word) {
    held_words_[word % held_max] = word;
    held_[word % held_max] = {address, bytes, ready, made};
  }
}

void core::hold_store(ticks made) noexcept {
  stores_[store_next_] = made;
  store_next_ = store_next_ + 1 == stores_.size() ? 0 : store_next_ + 1;
}

void core::store(const reference& r, ticks known, ticks ready, bool stream) {
  const uint64_t end = r.address + r.bytes;
  for (uint64_t at = r.address; at < end;) {
    const uint64_t next = std::min(end, (line_of(at) + 1) * line_bytes);
    const auto n = static_cast<unsigned>(next - at);
    if (stream) {
      combine(at, n);
      hold_store(std::max(retired_, drained_));
    } else {
      make_store(at, n, known, ready);
    }
    at = next;
  }
}

void core::send(combining& c) {
  ++count_.streamed;
  // A copy in a cache is older, and leaves first.
  ticks from = c.last;
  if (caches_.have(c.line)) {
    pending(caches_.write_back(number_, c.line, c.last, true));
    from += caches_.way_out();
  }
  pending(memory_.write(c.line, from));
}

void core::send_all() {
  for (combining& c : combining_) send(c);
  combining_.clear();
}

void core::send_line(uint64_t line) {
  const auto c = std::ranges::find(combining_, line, &combining::line);
  if (c == combining_.end()) return;
  send(*c);
  combining_.erase(c);
}

void core::combine(uint64_t address, unsigned bytes) {
  ++count_.stores;
  const uint64_t line = line_of(address);
  const uint64_t ones = bytes == line_bytes ? UINT64_MAX : (uint64_t{1} << bytes) - 1;
  const uint64_t mask = ones << (address % line_bytes);
  auto c = std::ranges::find(combining_, line, &combining::line);
  if (c == combining_.end()) {
    if (combining_.size() == combining_max) {
      send(combining_.front());
      combining_.erase(combining_.begin());
    }
    combining_.push_back({line, 0, 0});
    c = combining_.end() - 1;
  }
  c->mask |= mask;
  c->last = std::max(caches_.translated(number_, address, retired_), drained_);
  if (c->mask != UINT64_MAX) return;
  send(*c);
  combining_.erase(c);
}

void core::finish_plain(const operation& op, std::span<const reference> refs, ticks begins,
                        ticks done) {
  bool stores = false;
  for (const reference& r : refs) {
    if (r.store) {
      stores = true;
      dispatch_ = std::max(dispatch_, stores_[store_next_]);
    } else {
      done = std::max(done, load(r, begins));
    }
  }
  done += op.cycles * cycle_;
  retire(op, done);
  if (!stores) return;
  for (const reference& r : refs)
    if (r.store) store(r, std::max(begins, dispatch_), done, false);
}

void core::finish_other(const operation& op, std::span<const reference> refs, ticks begins,
                        ticks done) {
  const bool pushes = op.kind == operation_kind::write_back || op.kind == operation_kind::flush;
  for (const reference& r : refs) {
    if (!r.store && !pushes)
      done = std::max(done, load(r, begins));
    else
      dispatch_ = std::max(dispatch_, stores_[store_next_]);
  }
  done += op.cycles * cycle_;
  switch (op.kind) {
    case operation_kind::fence:
    case operation_kind::full_fence: {
      ++count_.fences;
      send_all();
      const ticks over = latest(done, drained_, flushed_);
      drained_ = std::max(drained_, over);
      // A store fence may be one more entry of the store buffer.
      if (op.kind == operation_kind::fence && !fence_holds_) {
        dispatch_ = std::max(dispatch_, stores_[store_next_]);
        hold_store(over);
        break;
      }
      count_.fenced += over - std::max(done, retired_);
      done = over;
      if (op.kind == operation_kind::full_fence) dispatch_ = std::max(dispatch_, over);
      break;
    }
    case operation_kind::locked:
      send_all();
      done = latest(done, drained_, flushed_) + lock_;
      drained_ = std::max(drained_, done);
      break;
    case operation_kind::load_fence:
      done = std::max(done, retired_);
      dispatch_ = std::max(dispatch_, done);
      break;
    default: break;
  }
  retire(op, done);
  for (const reference& r : refs) {
    if (pushes) {
      ++count_.write_backs;
      const ticks from = std::max(retired_, drained_);
      hold_store(from);
      pending(
          caches_.write_back(number_, line_of(r.address), from, op.kind == operation_kind::flush));
    } else if (r.store) {
      store(r, std::max(begins, dispatch_), done, op.kind == operation_kind::stream);
    }
  }
}

}  // namespace scute::sim
