// SPDX-License-Identifier: BSD-3-Clause
// pow_campaign.hpp: the same for a persist-on-write file:
// workers whose threads change maps and counters in sections, strict ones and `later` ones, killed
// at random instants; then the file is opened, and holds what it has to hold.
//
// Thread t's section n writes entry n % keys of its own map, or erases it, and n into its own
// counter; and a section under a lock that all share adds one to a common sum and to a share of its
// own. So all states that there can be follow from the counters, and the counters must be between
// what was confirmed (after the commit, or after the sync of `later` ones) and what was announced.
#pragma once

#include "dice.hpp"
#include "ledger.hpp"
#include "meter.hpp"
#include "settings.hpp"

#include <scute/pow.hpp>

#include <cstdint>
#include <string>

namespace scute_torture {

struct pow_tally {
  uint64_t kills = 0, closed = 0, verified = 0, records = 0, pages_overwritten = 0, dropped = 0,
           repaired = 0, cleaned = 0;
};

class pow_campaign {
 public:
  pow_campaign(const settings& how, std::string folder);

  // Throws std::runtime_error for what cannot be asked of such a file.
  static void check(const settings& how);
  // Until the kills or the time are used up. Throws violation.
  void run();
  const pow_tally& result() const { return tally_; }
  uint64_t sections() const;
  double seconds() const { return meter_.seconds(); }
  std::string path() const { return folder_ + "/torture.pow"; }

 private:
  bool over() const;
  scute::pow::options options() const;
  void work(uint64_t round);
  void round();
  std::vector<uint64_t> pages_to_lose(uint64_t size);
  void damage();
  void verify();
  // Restores the file that an earlier kill has left, to see that it is noticed.
  bool spoil();
  std::string earlier_path() const { return folder_ + "/torture.earlier"; }

  const settings& how_;
  std::string folder_;
  ledger& book_;
  scute_tools::dice dice_;
  meter meter_;
  pow_tally tally_;
  uint64_t rounds_ = 0, confirmed_earlier_ = 0;
  bool damaged_ = false;  // and not checked since
};

// Prints what happened; the exit status.
int run_pow(const settings& how, const std::string& folder, bool& keep);

}  // namespace scute_torture
