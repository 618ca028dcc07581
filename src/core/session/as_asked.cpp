// SPDX-License-Identifier: BSD-3-Clause
#include "core/session/as_asked.hpp"

#include <cstring>
#include <iterator>

#include "base/failure.hpp"
#include "core/layout/engines.hpp"
#include "core/layout/geometry.hpp"

namespace scute::core {
namespace {

constexpr const char* fixed = "; that is chosen when a pool is made";

class asking {
 public:
  explicit asking(const std::string& path) noexcept : path_(path) {}

  [[noreturn]] void differs(const char* option, const std::string& has, const std::string& wanted,
                            const char* change = fixed) const {
    throw failure(SCUTE_E_INVALID, path_ + " has " + option + " " + has + ", and not " + wanted +
                                       " as asked for. To open it, leave out that option" + change);
  }
  void number(const char* option, uint64_t has, uint64_t wanted, const char* change = fixed) const {
    if (wanted != 0 && wanted != has)
      differs(option, has == 0 ? "by size" : std::to_string(has), std::to_string(wanted), change);
  }
  template <size_t N>
  void word(const char* option, const char* const (&names)[N], uint32_t has,
            uint32_t wanted) const {
    const auto name = [&](uint32_t n) { return n < N ? names[n] : std::to_string(n); };
    if (wanted != has) differs(option, name(has), name(wanted));
  }

 private:
  const std::string& path_;
};

constexpr const char* protections[] = {"none", "ml", "mlp", "mlpc"};
constexpr const char* checksums[] = {"none", "crc32c", "adler32"};

std::string engine_name(uint32_t id) {
  const pool::engine_facts* const e = pool::find_engine(id);
  return e != nullptr ? e->name : std::to_string(id);
}

}  // namespace

void require_as_asked(const pool::state& s, const scute_options& o,
                      const pool::engine_facts* goal) {
  const format::superblock& sb = s.sb;
  if (o.layout != nullptr && std::strcmp(o.layout, sb.layout) != 0)
    throw failure(SCUTE_E_LAYOUT, s.path + " has layout \"" + sb.layout + "\", not \"" + o.layout +
                                      "\"; open it with the program that made it");
  if ((o.flags & SCUTE_OVERWRITE) != 0)
    throw failure(SCUTE_E_INVALID, s.path +
                                       " exists, and opening it does not replace it. Leave out "
                                       "option overwrite, or make a new pool");
  const asking asks(s.path);
  if (o.size != pool::default_size) asks.number("size", sb.file_size, o.size);
  if (o.protection != SCUTE_PROTECT_AUTO)
    asks.word("protection", protections, sb.protection, static_cast<uint32_t>(o.protection));
  if (o.checksum != SCUTE_CHECKSUM_CRC32C && o.checksum != 0)
    asks.word("checksum", checksums, sb.checksum_kind, static_cast<uint32_t>(o.checksum));
  const auto engine = static_cast<uint32_t>(o.engine),
             has = goal != nullptr ? static_cast<uint32_t>(goal->id) : sb.engine;
  if (o.engine != SCUTE_ENGINE_AUTO && engine != has)
    asks.differs("engine", engine_name(has), engine_name(engine),
                 ", or give it another engine (`scute engine`, scute_set_engine())");
  asks.number("rows", s.foreign ? sb.foreign.rows : s.geo.rows, o.rows);
  asks.number("parity", s.geo.parity, o.parity);
  asks.number("lanes", s.geo.lane_count, o.lanes);
  asks.number("chunk_size", s.geo.chunk_size, o.chunk_size);
  asks.number("log_cap", sb.log_cap, o.log_cap,
              ", or give engine spec another log (`scute engine PATH spec --log-cap`, "
              "scute_set_engine())");
}

}  // namespace scute::core
