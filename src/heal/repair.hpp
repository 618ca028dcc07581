// SPDX-License-Identifier: BSD-3-Clause
// Rebuilding a damaged fragment from the rest of its columns (Pangolin 3.6, without freezing the
// pool: only the column blocks being read are held, one at a time).
//
// E1 Decoded bytes are believed only if the fragment's checksum accepts them. Until then nothing is
//    written.
// E2 A repair is idempotent: cut short, it leaves a fragment that still fails its checksum, and
//    columns that decode to the same bytes.
// E3 Damage may hit several pages differently: one page of the fragment itself, and for another one
//    the parity or another row. So every combination of kept and decoded pages is tried, and then
//    every combination with one page cut in two.
// E4 A repair never overwrites what a commit has written since it looked.
#pragma once

#include <array>

#include "medium/waiting.hpp"
#include "pool/fragment.hpp"

namespace scute::heal {

class column_repairer final : public pool::repairer {
 public:
  explicit column_repairer(pool::state& s) : s_(s) {}

  void repair(pool::lane* by, const pool::fragment& f, const char* what) override;

 private:
  [[noreturn]] void give_up(const pool::fragment& f, const char* what, const std::string& why);

  pool::state& s_;
  std::array<waiting_mutex, 16> busy_;  // by fragment; two repairs of one fragment take turns
};

}  // namespace scute::heal
