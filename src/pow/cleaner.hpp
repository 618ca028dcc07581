// SPDX-License-Identifier: BSD-3-Clause
// Takes segments in which few bytes count, copies these to a segment of its own lane, and makes the
// victims void (POW-4, POW-5, POW-6, POW-8). It runs concurrently with the program: it reads
// segments, and locks an entry only while it compares it.
//
// The order for one victim: first, everything undurable in it becomes durable, with the batches it
// depends on. The cleaner copies and fences the records that count; entries then point to the
// copies. Undurable batches that may replace a record of the victim, or name a batch in it, become
// durable. If recovery could need it, a mark that says so is fenced. The victim's head is made void
// and fenced. Only then is the segment free.
//
// A batch may begin in one segment and continue in another one. The first becomes void before the
// second: the trailer in the second says whether the parts in the first count.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_buffer.hpp"
#include "core/log/segment_reader.hpp"
#include "pow/sections/batch.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {

class cleaner {
 public:
  explicit cleaner(state& s);

  // Takes the cheapest segment. Returns false if none gains a sixteenth of a segment (worth_it), or
  // anything at all (any). The caller holds the state's clean_lock. Throws failure.
  enum class gains : uint8_t { worth_it, any };
  bool take_one(need kept, gains least = gains::worth_it);
  // The same for a thread that needs a segment of this kind. Returns 0: there is none; 1: one was
  // taken; 2: and there is more room now.
  int take_for(need kept);
  // Takes this segment; others may have to be taken before it. The caller holds the state's
  // clean_lock, or no other thread exists yet. Returns false if a record that counts was not found
  // in it, so that it stays.
  bool take(uint32_t victim, need kept);
  // Makes a segment void in which nothing counts, of a lane and of sessions that are decided; needs
  // no room (POW-21).
  bool release(uint32_t victim);

 private:
  static constexpr size_t tags_kept_least =
      16;  // tombstones that a victim may leave for their tags
  bool take(uint32_t victim, need kept, bool marked);
  struct found_record {  // a record in the victim
    entry* e;
    const table* t;
  };
  struct copy {
    table* t;
    uint64_t index;
    entry* e;
    uint64_t version;
    uint32_t size;
    uint32_t inside;  // of the bytes in the frame
  };

  uint32_t choose(gains wanted);
  void look_at(const log::frame& f);
  void add(table& t, const record& r, entry& e, const std::byte* bytes);
  void add_tombstones();
  void raise_tags(std::vector<uint32_t> tags);
  void write_copies();
  void write_mark();
  bool counts(entry& e, const record& r) const;
  bool is_empty() const;

  state& s_;
  int64_t gained_ = 0;  // segments freed, minus those filled with copies
  uint32_t victim_ = nowhere;
  need kept_ = need::cleaning;
  bool parts_ = false;
  uint64_t group_ = 0;  // version of the last group record; 0: none in this frame
  uint64_t most_ = 0;   // bytes that the frame under way may have
  std::vector<found_record> found_;
  struct grave {
    table* t;
    record r;
    entry* e;
  };
  std::vector<grave> graves_;
  std::vector<copy> copies_;
  byte_buffer image_;
};

}  // namespace scute::core::pow
