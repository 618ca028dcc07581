// SPDX-License-Identifier: BSD-3-Clause
// The numbers that describe a machine, from a file in sim/machines, each under a name as
// "pm.write". A file has a line "name = value" for each that differs from the defaults, which are
// those of the SpecPMT paper's Table 1 and, where that says nothing, of a Skylake core; # begins a
// comment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace scute::sim {

struct settings {
  // Core. Counts; cycles; GHz.
  double core_ghz = 4;
  unsigned cores = 2, width = 4, reorder = 224, store_buffer = 56, fills = 12;
  unsigned mispredict = 15;  // cycles that a wrongly predicted block costs; 0: all are predicted
  unsigned forward = 5;      // cycles from a store's data to a load of it that is not made yet
  bool forward_cold = true;  // before the line has come, too
  // Lines ahead of a run of ascending lines in a page that are fetched into the shared cache; 0:
  // none.
  unsigned prefetch = 0;
  unsigned lock_cycles = 18;  // of a locked instruction, besides its waiting
  bool fence_holds =
      true;  // operations after a store fence retire after its end; else only later stores wait
  // A core that uses a line during its write-back waits until the line is durable.
  bool write_back_holds = false;
  // Translation: entries and ways; cycles.
  unsigned tlb1 = 64, tlb1_ways = 8, tlb2 = 1536, tlb2_ways = 12, tlb2_cycles = 7, walk_cycles = 20;
  // Caches. Sets are powers of two; cycles.
  unsigned l1_sets = 64, l1_ways = 8, l1_cycles = 2;
  unsigned l2_sets = 2048, l2_ways = 12, l2_cycles = 20;
  unsigned l3_sets = 0, l3_ways = 16,
           l3_cycles = 50;  // lines that leave the second level; no sets: no third level
  // DRAM, in ns; the bytes of an open row.
  unsigned dram_banks = 16, dram_row = 8192;
  double dram_rcd = 14, dram_cl = 14, dram_rp = 14, dram_ras = 32, dram_wr = 15, dram_burst = 3.33;
  double dram_controller = 10;  // on the way to the memory and back
  // Persistent memory, in ns. Its queue is durable.
  double pm_read = 150, pm_write = 500, pm_accept = 10, pm_link = 0;
  // Of a line on the way from the memory, and to its queue: one after the other.
  double pm_burst = 0, pm_burst_write = 0;
  double pm_write_back =
      0;  // extra time of a line from the caches, which non-temporal stores do not take
  unsigned pm_page = 4;  // KiB that one translation is for; with schemes 4
  unsigned pm_banks = 16, pm_row = 256, pm_queue = 512;  // bytes of a row, of the queue
  bool pm_merge = true;  // queued lines of one row are written as one
  // Schemes.
  unsigned hot = 7;                  // stores that make a page hot, 1 to 7
  unsigned epochs = 8;               // at once, 2 to 8
  double epoch_records = 2048;       // KiB of records that end an epoch
  unsigned epoch_pages = 200;        // page records that end an epoch
  double hoop_collect = 128;         // KiB that the out-of-place scheme collects at once
  unsigned undo_instructions = 150;  // of software that logs one range (software undo)

  bool operator==(const settings&) const = default;
};

// Sets the number called `name`. Throws std::invalid_argument that says what is wrong with name or
// value; a value that no machine can have (no ways, sets that are no power of two) is wrong.
void set(settings& s, std::string_view name, std::string_view value);

// Reads a file over the defaults. Throws std::runtime_error with file and line.
settings read_settings(const std::string& path);

struct setting {
  std::string name, value, unit;
};
// All of them, in the order of a file.
std::vector<setting> list(const settings& s);

}  // namespace scute::sim
