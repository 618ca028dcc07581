// SPDX-License-Identifier: BSD-3-Clause
// settings.hpp: what is done, and the command that does it again.
#pragma once

#include <scute/scute.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace scute_campaign {

inline constexpr std::array level_names{"none", "ml", "mlp", "mlpc"};

// One point of the grid: how the pool is made, and how it is injured.
struct cell {
  scute_protection level = SCUTE_PROTECT_MLPC;
  uint32_t rows = 0;
  uint32_t bits = 1;
  double rate = 0;

  std::string name() const;  // "mlpc/N20/8bit/1e-06"
};

// How pools of level mlpc are made; the other levels have engine redo, or spec if that is asked
// for, and one row of parity.
struct variant {
  scute_engine engine = SCUTE_ENGINE_AUTO;
  uint32_t parity = 0;      // 0: by default
  uint32_t chunk_size = 0;  // of all levels; 0: not drawn yet

  void apply(scute_protection level, scute_options& o) const noexcept {
    o.chunk_size = chunk_size;
    if (level == SCUTE_PROTECT_MLPC || engine == SCUTE_ENGINE_SPEC) o.engine = engine;
    if (level != SCUTE_PROTECT_MLPC) return;
    o.parity = parity;
  }
  std::string arguments() const;  // of the command line
};

// Spoils the run on purpose, to see it fail.
enum class drill {
  none,
  silent,    // an object's expected bytes are not what was stored: looks like a silent error
  greedy,    // the oracle takes everything for survivable
  forgetful  // the last report of an enumeration is ignored
};

struct settings {
  std::string folder;
  uint64_t size = 16u << 20;
  uint64_t seed = 1;
  unsigned trials = 100;
  unsigned processes = 2;
  std::vector<scute_protection> levels{SCUTE_PROTECT_NONE, SCUTE_PROTECT_ML, SCUTE_PROTECT_MLP,
                                       SCUTE_PROTECT_MLPC};
  variant kind;
  std::vector<uint32_t> rows{1, 20, 100};
  std::vector<uint32_t> bits{1, 8, 16, 32, 64};
  std::vector<double> rates{1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4};
  std::string only;  // name of a cell; empty: all
  int trial = -1;    // of that cell; -1: all
  drill spoil = drill::none;
  bool quiet = false;
  bool full = false;  // the pool, as far as it goes; else three quarters
  // A file of that size under the shield instead of a pool: what protects it is injured as well.
  bool shielded = false;
};

// The command line that repeats one trial.
std::string repeat_command(const settings& how, const cell& where, unsigned trial);

}  // namespace scute_campaign
