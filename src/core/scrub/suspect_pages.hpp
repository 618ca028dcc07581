// SPDX-License-Identifier: BSD-3-Clause
// Lost pages in a pool that needs recovery. Where a transaction was under way when the power
// failed, the parity of its columns may be old, new or torn. So the bytes of a lost page in these
// columns, in any other row, cannot be decoded with certainty.
//
// SUSPAGE-1 Pages that are known to be lost are rebuilt before anything is replayed: data and
//    parity may both still be old. Pages found to be lost later are rebuilt when they are found.
// SUSPAGE-2 When everything is replayed, and before the parity is recomputed, the uncertain bytes
//    of each of them are tested. If a fragment's checksum does not accept them, they are decoded
//    again: data and parity may both be new. Bytes that are accepted neither way stay invalid, and
//    are reported by name.
// SUSPAGE-3 Without checksums of payloads nothing can be accepted. The uncertain bytes of live
//    objects are then overwritten by a pattern, and the objects reported: no caller gets a guess
//    instead of the stored bytes.
#pragma once

#include <vector>

#include "core/repair/page_repair.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::scrub {

class suspect_pages final : public tx::recovery_watch {
 public:
  // known: lost pages, whose access is revoked.
  suspect_pages(pool::state& s, repair::page_repairer& repairer, const std::vector<uint64_t>& known)
      : s_(s), repairer_(repairer), known_(known) {}
  ~suspect_pages() { repairer_.suspect(false); }

  void replay_begins() override;
  void parity_begins(std::span<const pool::data_range> written) override;

 private:
  struct uncertain;
  void examine(uint64_t page, const uncertain& u);

  pool::state& s_;
  repair::page_repairer& repairer_;
  const std::vector<uint64_t>& known_;
};

}  // namespace scute::core::scrub
