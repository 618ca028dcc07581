// SPDX-License-Identifier: BSD-3-Clause
// Reads all segments of a file whose session has ended, with several threads, into the tables. The
// newest record of each id wins, so the order does not matter. Records whose batches may not count
// wait until everything was read (pow/recovery/decision.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pow/recovery/damage.hpp"
#include "pow/sections/batch.hpp"
#include "pow/state.hpp"

namespace scute::core::pow {

struct waiting_frame {
  uint32_t segment, lane;
  uint64_t session, number, version, position;
  frame_kind kind;
  uint32_t part;
  uint64_t parts;  // of a trailer
  std::vector<dependency> names;
  std::vector<record> records;
};

// Progress: `done` of `total`.
using progress_fn = std::function<void(uint64_t done, uint64_t total)>;

enum class head_state : uint8_t { used, nobodys, torn, damaged, seal };

struct segment_reading {
  head_state head = head_state::damaged;
  // a copy is wrong and the other one right: of the head, or of these batches
  bool flawed = false;
  bool head_flawed = false;
  std::vector<uint64_t> flaws;
  uint64_t lane = 0, session = 0, generation = 0,
           first = 0;  // as the head says; first: number of a batch
  uint64_t last = 0;   // number of the last batch that was read; 0: none
  uint64_t end = 0;    // line after the last frame
  uint64_t frames = 0, last_transaction = 0;
  bool part_last = false;  // the last frame is a part, and its batch continues elsewhere
  std::optional<format::segment_head> as_head;
  std::optional<format::segment_end> stated;  // POW-12
  bool stated_flawed = false;
  std::optional<seal_table> table;  // of a seal
  uint32_t seal = nowhere;          // of a member
  uint32_t which = 0;               // of its members
  uint64_t rebuilt = 0;             // pages that came from the others of its group
  bool sum_differs = false;         // of a seal whose members are whole (POW-22)
  struct gap {  // the numbers between these are missing after an unreadable place
    uint64_t after, before;
    uint64_t from, to;  // lines
  };
  std::vector<gap> gaps;
};

using lane_key = std::pair<uint64_t, uint32_t>;  // session, lane

// Classifies the head of a segment that is not valid. clean: the file was closed, so nothing was
// being written.
head_state classify_head(std::span<const std::byte> line, uint64_t salt, uint64_t session,
                         const log::segment_layout& layout, bool clean) noexcept;

class scan {
 public:
  explicit scan(state& s);

  // Throws failure. Seals come first, and members that differ from their seals' tables last
  // (POW-20).
  void read_all(uint32_t threads, const progress_fn& progress);
  // Enters a record that counts, or one that only exists.
  void insert(const waiting_frame& f, bool counts);

  std::vector<segment_reading> readings;
  std::vector<waiting_frame> waiting;
  std::map<lane_key, uint64_t> confirmed;  // according to frames and marks
  std::vector<damage_note> damage;
  uint64_t records = 0, frames = 0;

 private:
  struct worker;
  void read_seals();
  bool is_on_its_way(const std::byte* line, const format::segment_head& before) const;
  bool is_stale(const seal_table& t, uint32_t seal) const;
  std::vector<uint32_t> read_broken(std::vector<uint32_t> broken);
  void compare_seals(uint32_t threads, const std::vector<uint32_t>& broken);
  void take_over(worker& w);
  void find_free();
  void read_one(worker& w, uint32_t segment);
  bool counts_already(const segment_reading& r, uint64_t number) const noexcept;
  void insert(uint32_t segment, uint64_t position, const record& r, bool counts);

  state& s_;
};

}  // namespace scute::core::pow
