// SPDX-License-Identifier: BSD-3-Clause
// Takes segments in which little counts, copies that to a segment of its own lane, and makes them
// void (POW-4, POW-5, POW-6, POW-8). It runs concurrently with the program: it reads segments, and
// locks an entry for as long as it takes to compare it.
//
// The order for one victim: all that is undurable in it becomes durable, and what that rests on.
// The cleaner copies and fences the records that count; entries say where they are now. Batches
// that are undurable, and may replace a record of the victim or name a batch in it, become durable.
// If recovery could need it, a mark that says so is fenced. The victim's head is made void and
// fenced; only then is the segment free.
//
// A segment into which a batch continues from another one waits until that one is void: its trailer
// says whether the parts there count.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_buffer.hpp"
#include "log/segment_reader.hpp"
#include "pow/batch.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {

class cleaner {
 public:
  explicit cleaner(state& s);

  // Takes the segment that is cheapest to take. False if none gains anything worth its copying (a
  // sixteenth of it), or anything at all. With the state's clean_lock. Throws failure.
  enum class gains : uint8_t { worth_it, any };
  bool take_one(need kept, gains least = gains::worth_it);
  // The same for a thread that needs a segment of this kind. 0: there is none, 1: it was taken, 2:
  // and there is more room now.
  int take_for(need kept);
  // This one, which others may have to go before. With the state's clean_lock, or before any other
  // thread is there. False: a record that counts was not found in it, so it stays as it is.
  bool take(uint32_t victim, need kept);
  // One in which nothing counts, of a lane and sessions that are decided: takes no room (POW-21).
  bool release(uint32_t victim);

 private:
  static constexpr size_t tags_kept_least =
      16;  // tombstones that a victim may leave for their tags
  bool take(uint32_t victim, need kept, bool marked);
  struct sighting {  // a record in the victim
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
  int64_t gained_ = 0;  // segments that it has made free, less those that it has filled with copies
  uint32_t victim_ = nowhere;
  need kept_ = need::cleaning;
  bool parts_ = false;
  uint64_t group_ = 0;  // version of the last group record; 0: none in this frame
  uint64_t most_ = 0;   // bytes that the frame under way may have
  std::vector<sighting> sightings_;
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
