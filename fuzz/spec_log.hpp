// SPDX-License-Identifier: BSD-3-Clause
// Images of engine spec that need recovery, and the places of its log in an image: segment heads,
// frames, the list of segments. Of an image of this engine `ring` has the frames, `links` the heads
// of segments, `undo` the lists, and `statuses` the truncation point.
#pragma once

#include "open_pool.hpp"

namespace scute::fuzz {

inline constexpr level spec_levels[] = {
    {"spec", SCUTE_PROTECT_MLPC, SCUTE_CHECKSUM_CRC32C, SCUTE_ENGINE_SPEC},
    {"spec-none", SCUTE_PROTECT_NONE, SCUTE_CHECKSUM_CRC32C, SCUTE_ENGINE_SPEC}};
inline constexpr level spec_tracks_level = {"spec-tracks", SCUTE_PROTECT_MLPC,
                                            SCUTE_CHECKSUM_CRC32C, SCUTE_ENGINE_SPEC, true};

struct spec_images {
  bytes live;  // records of every kind, and all that they say in the pool
  bytes torn;  // the same, with half of the words of the pool
  bytes open;  // a range in place, stored to
};
spec_images make_spec_images(ram_file& file, const level& l);

// Nothing if the image is of another engine.
void find_spec_log(base_image& image);

// Makes the checksum of a structure of the log right again, and stores it in both copies, if there
// are two; of a line in tracks those of its frame, and the XOR of the frame's rows. `content`: of
// the mutant. False if it is none.
bool seal_spec_log(const base_image& image, bytes& content, const structure& where);

}  // namespace scute::fuzz
