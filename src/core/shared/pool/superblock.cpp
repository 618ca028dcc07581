// SPDX-License-Identifier: BSD-3-Clause
#include "core/shared/pool/superblock.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "base/failure.hpp"
#include "base/rounding.hpp"
#include "codec/checksum/crc32c.hpp"
#include "core/file/our_file.hpp"
#include "core/shared/pool/session_number.hpp"

namespace scute::core::pool {
namespace {

bool has_magic(const format::superblock& sb) noexcept {
  return std::memcmp(sb.magic, format::magic, sizeof sb.magic) == 0;
}

// The medium's facts about them (OURS-1).
static_assert(std::equal(std::begin(format::magic), std::end(format::magic), medium::pool_mark));
static_assert(std::equal(std::begin(format::log_file_magic), std::end(format::log_file_magic),
                         medium::log_mark));

constexpr uint64_t behind_max = 2;  // SB-1
// For so many sessions the recovery of one may be under way, if no thread makes it. (After more a
// torn copy counts as damage, and is rewritten.)
constexpr uint64_t sessions_unresolved_max = 64;

// SB-3. Each session writes the superblock when it begins and when it ends, at least.
bool torn(const format::superblock& copy, const format::superblock& newest) noexcept {
  format::superblock rest = copy;
  rest.sequence = newest.sequence;
  rest.epoch = newest.epoch;
  rest.resolved_epoch = newest.resolved_epoch;
  rest.clean = newest.clean;
  rest.checksum = newest.checksum;
  std::memcpy(rest.reserved, newest.reserved, sizeof(session_number));
  const bool foreign = (newest.incompat & format::incompat_foreign) != 0;
  if (foreign) {
    rest.foreign.size = newest.foreign.size;
    rest.foreign.growth = newest.foreign.growth;
    rest.foreign.inode = newest.foreign.inode;
    rest.foreign.mtime_ns = newest.foreign.mtime_ns;
    rest.foreign.ctime_ns = newest.foreign.ctime_ns;
  }
  if (std::memcmp(&rest, &newest, sizeof rest) != 0 || !may_be_torn_session(copy, newest))
    return false;
  const auto near = [](uint64_t x, uint64_t to) { return x <= to + 1 && x + behind_max >= to; };
  if (!near(copy.sequence, newest.sequence) || !near(copy.epoch, newest.epoch) || copy.clean > 1 ||
      (copy.resolved_epoch > newest.epoch && copy.resolved_epoch != newest.resolved_epoch))
    return false;
  if (foreign) return true;
  for (uint64_t back = 0; back <= behind_max + 1; ++back)
    for (uint64_t e = 0; e <= behind_max + 1; ++e)
      for (const uint32_t clean : {0u, 1u}) {
        rest.sequence = newest.sequence + 1 - back;
        rest.epoch = newest.epoch + 1 - e;
        rest.clean = clean;
        const auto fits = [&](uint64_t resolved) {
          rest.resolved_epoch = resolved;
          return superblock_checksum(rest) == copy.checksum;
        };
        if (fits(newest.resolved_epoch) || fits(copy.resolved_epoch)) return true;
        for (uint64_t k = 0; k <= std::min(newest.epoch, sessions_unresolved_max); ++k)
          if (fits(newest.epoch - k)) return true;
      }
  return false;
}

}  // namespace

uint32_t superblock_checksum(const format::superblock& sb) noexcept {
  return codec::crc32c(0, &sb, offsetof(format::superblock, checksum));
}

uint64_t pool_salt(const format::superblock& sb) noexcept {
  uint64_t a = 0, b = 0;
  std::memcpy(&a, sb.uuid, 8);
  std::memcpy(&b, sb.uuid + 8, 8);
  return a ^ (b << 1 | b >> 63);
}

superblock_read read_superblock(const medium::medium& m, const std::string& path) {
  superblock_read result;
  bool found = false;
  bool magic_seen = false;
  bool newer = false;
  uint64_t newer_sequence = 0;
  uint32_t their_version = 0;
  format::superblock copies[3]{};
  bool valid[3]{};
  const auto look = [&](unsigned i, uint64_t offset) {
    if (offset + sizeof(format::superblock) > m.size()) return;
    if (!m.read(offset, &copies[i], sizeof copies[i])) return;  // a lost page
    const auto& sb = copies[i];
    magic_seen = magic_seen || has_magic(sb);
    if (!has_magic(sb)) return;
    if (sb.checksum != superblock_checksum(sb)) return;
    // The place of magic, version, features and checksum is fixed for all versions.
    if (sb.version > format::version || (sb.incompat & ~format::incompat_known) != 0 ||
        ((sb.ro_compat & ~format::ro_compat_known) != 0 && !m.read_only())) {
      newer = true;
      newer_sequence = std::max(newer_sequence, sb.sequence);
      their_version = sb.version;
      return;
    }
    valid[i] = true;
    if (!found || sb.sequence > result.newest.sequence) result.newest = sb;
    found = true;
  };
  look(0, 0);
  look(1, format::page);
  // The third copy is in the pool's last page. A truncated file has lost it, and a file that grew
  // has it elsewhere. Another copy says where it is; otherwise the end of the file is the best
  // guess.
  const uint64_t last = found ? result.newest.file_size : round_down(m.size(), format::page);
  if (last >= 3 * format::page) look(2, last - format::page);
  // A copy that a newer library wrote after all others counts, even if others can still be read.
  if (newer && (!found || newer_sequence > result.newest.sequence))
    throw failure(SCUTE_E_VERSION, path + " was made by a newer Scute (format version " +
                                       std::to_string(their_version) + ", this library knows " +
                                       std::to_string(format::version) + "); upgrade the library");
  if (!found && !magic_seen)
    throw failure(SCUTE_E_FORMAT, path + " is not a Scute pool (no superblock was found)");
  if (!found)
    throw failure(SCUTE_E_CORRUPT, path +
                                       " has lost all three copies of its superblock; restore "
                                       "the pool from a backup");
  if (result.newest.file_size > m.size())
    throw failure(SCUTE_E_TRUNCATED,
                  path + " is " + std::to_string(m.size()) + " bytes long but was made with " +
                      std::to_string(result.newest.file_size) +
                      "; it was truncated. Restore the file, or extend it with zeros "
                      "(truncate -s) and run `scute check --repair`");
  const auto invalid = std::count(std::begin(valid), std::end(valid), false);
  const auto behind = [&](unsigned i) { return result.newest.sequence - copies[i].sequence; };
  bool midway = false;  // some copy is one write older
  for (unsigned i = 0; i < 3; ++i) midway = midway || (valid[i] && behind(i) == 1);
  for (unsigned i = 0; i < 3; ++i)
    result.damaged[i] = valid[i] ? behind(i) > (midway && invalid == 0 ? 2 : 1)
                                 : invalid != 1 || !torn(copies[i], result.newest);
  return result;
}

void write_superblock(medium::writer& w, format::superblock& sb) {
  std::byte* base = w.target().base();
  uint64_t order[3] = {0, format::page, sb.file_size - format::page};
  const auto age = [&](uint64_t offset) -> uint64_t {  // 0: not valid
    format::superblock copy;
    std::memcpy(&copy, base + offset, sizeof copy);
    return !has_magic(copy) || copy.checksum != superblock_checksum(copy) ? 0 : copy.sequence;
  };
  std::stable_sort(std::begin(order), std::end(order),
                   [&](uint64_t a, uint64_t b) { return age(a) < age(b); });
  ++sb.sequence;
  sb.checksum = superblock_checksum(sb);
  for (const uint64_t offset : order) {
    w.stream(base + offset, &sb, sizeof sb, medium::purpose::metadata);
    w.fence(fence_site::superblock);
  }
}

}  // namespace scute::core::pool
