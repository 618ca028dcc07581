// SPDX-License-Identifier: BSD-3-Clause
// campaign.hpp: kill, reopen, verify; again and again.
#pragma once

#include "cast.hpp"
#include "ledger.hpp"
#include "meter.hpp"
#include "settings.hpp"
#include "space.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace scute_torture {

// The worker's action when the signal was sent.
enum class moment : uint8_t { working, opening, closing, creating };
inline constexpr std::array<const char*, 4> moment_names{"working", "opening", "closing",
                                                         "creating"};

struct tally {
  std::array<uint64_t, 4> kills{};  // by moment
  uint64_t verified = 0;            // times the whole pool was compared
  uint64_t closed_in_time = 0;      // workers that closed the pool before the signal came
  uint64_t objects = 0, bytes = 0;  // looked at by scute_check in all
  space now, when_new;
  uint64_t all_kills() const { return kills[0] + kills[1] + kills[2] + kills[3]; }
};

class campaign {
 public:
  // folder: for the pool and its copies; must exist.
  campaign(const settings& how, std::string folder);

  // Makes the pool. Throws scute::error.
  void prepare();
  // Until the kills or the time are used up. Throws violation.
  void run();

  const tally& result() const { return tally_; }
  const ledger& book() const { return book_; }
  uint64_t transactions() const;
  double seconds() const { return meter_.seconds(); }
  // The pool, and its copy as the last kill left it.
  std::string path() const { return folder_ + "/torture.pool"; }
  std::string killed_path() const { return folder_ + "/torture.killed"; }

 private:
  bool over() const;
  void show();
  void keep_copy();
  moment round();
  void create_round();
  void create_again(const std::string& path);
  void must_have_been_killed(int status);
  void verify();
  void verify_numbers(const scute::pool& pool);
  void verify_objects(const scute::pool& pool);
  void verify_structures(const scute::pool& pool);
  void verify_space();
  [[nodiscard]] uint64_t confirmed() const noexcept;
  [[nodiscard]] bool spoils_now() const noexcept;

  const settings& how_;
  std::string folder_;
  cast actors_;
  ledger& book_;
  dice dice_;
  meter meter_;
  tally tally_;
  uint64_t rounds_ = 0;
  std::optional<bool> clean_ = true;  // the mark that the pool must have, if that is certain
  bool drilled_ = false;
  uint64_t confirmed_earlier_ = 0;  // when the file that the stale drill brings back was copied
  scute_medium medium_ = SCUTE_MEDIUM_AUTO;  // the library's finding
};

}  // namespace scute_torture
