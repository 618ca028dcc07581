// SPDX-License-Identifier: BSD-3-Clause
// Which versions of a fragment its columns can restore after a crash of a log-free pool. Reads
// only.
//
// VERSION-1 A version counts if the fragment's checksum accepts it, whichever way it was decoded
//    (core/repair/erasure/erasure_decoder.hpp, core/repair/erasure/erasure_search.hpp,
//    core/repair/erasure/bitflip_search.hpp).
// VERSION-2 With several parities a crash, or damage, can leave two: some parities have the new
//    version of a decided transaction already, others still the one before. For a damaged fragment
//    the new one is the truth, since no parity changes before its transaction is decided. For a
//    sound one any version but the stored one shows that its columns are open.
// VERSION-3 A fragment whose stored header is in doubt may be whole except for damage in lines of
//    64 bytes that its transaction did not write. So first one run of lines from its columns is
//    tried: if the stored header's checksum accepts the result, that is the truth.
//
// On VERSION-3: no thread may have verified such lines for a while (core/tx/replacer.hpp). A torn
// fragment lacks new bytes, which its columns do not have either, so it is not accepted. Up to
// 2,145 attempts, each of which is mistaken with 2^-32.
#pragma once

#include <vector>

#include "core/repair/erasure/erasure_decoder.hpp"
#include "core/repair/erasure/erasure_search.hpp"

namespace scute::core::repair {

struct decode_candidate {
  format::fragment_header header;
  std::vector<std::byte> payload;  // the bytes that the header vouches for
};

// For an invalid fragment. Leaves header and payload, as units_of() lays them out, of the newest
// version that its columns, or a mixture of these and the stored bytes, give. Returns false if
// there is none.
bool find_sound(pool::state& s, const pool::fragment& f, const erasure_decoder::doubt& in_doubt,
                std::vector<std::byte>& image, pool::erasure_hints* hints = nullptr);

// For a valid one: a version that differs from the stored one. Returns false if there is none.
bool find_other(pool::state& s, const pool::fragment& f, const erasure_decoder::doubt& in_doubt,
                decode_candidate& other, pool::erasure_hints* hints = nullptr);

}  // namespace scute::core::repair
