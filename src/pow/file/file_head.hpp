// SPDX-License-Identifier: BSD-3-Clause
// The three head pages of a persist-on-write file.
//
// Of the copies with a right checksum the one with the greatest update counts. They are written one
// after the other, each with its fence. So at any moment at least two copies are complete, and one
// of these may even be damaged. Before the first write of a session all copies are made equal to
// the newest, so that a write never tears the newest one. No thread acts on an update before it is
// in all three.
//
// HEAD-1 copies that differ as a crash leaves them are no damage: the first ones are the newest
//   head, one may be torn, and the others are the head of the update before. The torn copy has
//   bytes of these two. If only the next update or the one before can say what the torn copy was
//   becoming, all bytes that no update changes must be there.
#pragma once

#include <cstdint>
#include <string>

#include "core/medium/medium.hpp"
#include "pow/file/format.hpp"

namespace scute::core::pow {

uint32_t head_checksum(const file_head& h) noexcept;
uint64_t salt_of(const file_head& h) noexcept;

// Reads the newest copy. Throws failure: SCUTE_E_FORMAT (no copy is one of ours), SCUTE_E_VERSION
// (a newer library's), SCUTE_E_CORRUPT (ours, and no copy is complete), SCUTE_E_TRUNCATED (more
// segments than bytes). damaged: the number of copies that differ from the newest, unless a crash
// has left them so. longest: up to this size the segments may need more bytes than there are.
file_head read_head(const medium::medium& m, uint64_t file_size, const std::string& name,
                    uint32_t& damaged, uint64_t longest = 0);
// Makes all copies equal to h, durably: either the head that read_head() has found, or that of a
// new file.
void align_heads(medium::writer& w, const file_head& h);
// Writes the next update; fills in h.update and h.checksum.
void write_head(medium::writer& w, file_head& h);

}  // namespace scute::core::pow
