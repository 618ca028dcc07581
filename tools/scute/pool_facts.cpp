// SPDX-License-Identifier: BSD-3-Clause
#include "pool_facts.hpp"

#include "standard_streams.hpp"

#include <fmt/format.h>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace scute_tool {

namespace {

struct file_system_name {
  unsigned long magic;  // statfs(2), linux/magic.h
  const char* name;
};

constexpr file_system_name file_systems[] = {
    {0x01021994, "tmpfs"}, {0xef53, "ext4"},          {0x58465342, "xfs"},
    {0x9123683e, "btrfs"}, {0x794c7630, "overlayfs"}, {0x2fc12fc1, "zfs"},
    {0x6969, "nfs"},       {0x958458f6, "hugetlbfs"}, {0x65735546, "fuse"},
};

std::string file_system_of(const std::string& path) {
  struct statfs status{};
  if (statfs(path.c_str(), &status) != 0) return "an unknown file system";
  const auto magic = static_cast<unsigned long>(status.f_type);
  for (const file_system_name& known : file_systems) {
    if (known.magic == magic) return known.name;
  }
  return fmt::format("file system {:#x}", magic);
}

std::string medium_reason(const std::string& path, const scute_info& info) {
  std::string file_system = file_system_of(path);
  switch (info.medium) {
    case SCUTE_MEDIUM_RAM:
      return fmt::format("memory of {}: survives the process, not the machine", file_system);
    case SCUTE_MEDIUM_FILE:
      return fmt::format("page cache of {}: a fence is an fdatasync", file_system);
    case SCUTE_MEDIUM_DAX:
      return fmt::format("DAX mapping of {}, {} MAP_SYNC", file_system,
                         info.map_sync != 0 ? "with" : "without");
    case SCUTE_MEDIUM_AUTO: break;
  }
  return file_system;
}

std::string flush_reason(const scute_info& info) {
  if (std::strcmp(info.flush, "msync") == 0) return "the kernel writes pages back";
  if (info.eadr != 0) return "CPU caches persist (eADR): fences suffice";
  for (const char* limit : {"SCUTE_FLUSH", "SCUTE_CPU"})
    if (const char* value = std::getenv(limit); value != nullptr && *value != '\0')
      return fmt::format("with {}={}; the CPU's caches do not persist", limit, value);
  if (std::strcmp(info.flush, "none") == 0) return "nothing to write back";
  return "the best cache write-back this CPU has; its caches do not persist";
}

const char* protection_reason(scute_protection protection) {
  switch (protection) {
    case SCUTE_PROTECT_NONE: return "crash consistency only";
    case SCUTE_PROTECT_ML: return "metadata and logs replicated";
    case SCUTE_PROTECT_MLP: return "metadata and logs replicated, parity over every zone";
    case SCUTE_PROTECT_AUTO:  // only asked for
    case SCUTE_PROTECT_MLPC: break;
  }
  return "metadata and logs replicated, parity over every zone, checksums of objects";
}

std::string repair_reason(const scute_info& info) {
  if (info.parity == 0) return "none: damage cannot be repaired";
  return fmt::format("any {} damaged of {} rows at every byte of a row can be rebuilt", info.parity,
                     info.rows + info.parity);
}

const char* engine_reason(scute_engine engine) {
  switch (engine) {
    case SCUTE_ENGINE_LOGFREE: return "straight to its place; the parity is the undo log";
    case SCUTE_ENGINE_SPEC: return "log, one fence; in place later, in the background";
    case SCUTE_ENGINE_AUTO:
    case SCUTE_ENGINE_REDO: break;
  }
  return "log, then in place";
}

std::string recovery_text(const scute_info& info) {
  std::string text = "not needed";
  if (info.clean == 0)
    text = fmt::format("{} transactions completed in {} (in private memory)",
                       count_text(info.recovered),
                       duration_text(static_cast<double>(info.recovery_ns) / 1e9));
  if (info.unresolved != 0)
    text += fmt::format("; columns of {} not looked at yet (`scute check` does)",
                        size_text(info.unresolved));
  if (info.rolled_back != 0 || info.finished != 0)
    text += fmt::format("; {} fragments rolled back, parity of {} completed",
                        count_text(info.rolled_back), count_text(info.finished));
  return text;
}

double overhead_percent(const scute_info& info) {
  return info.size == 0 ? 0
                        : 100 * static_cast<double>(info.overhead) / static_cast<double>(info.size);
}

std::string with_reason(std::string_view value, std::string_view reason) {
  return fmt::format("{} ({})", value, reason);
}

}  // namespace

fact_sheet geometry_facts(const std::string& path, const scute_info& info) {
  fact_sheet facts;
  facts.add("pool", path);
  facts.add("uuid", uuid_text(info.uuid));
  facts.add("layout", info.layout[0] != '\0' ? info.layout : "(none)");
  facts.add("size", exact_size_text(info.size));
  facts.add("format", fmt::format("version {}", info.version));
  facts.add("medium", with_reason(name_of(info.medium), medium_reason(path, info)));
  facts.add("flush", with_reason(info.flush, flush_reason(info)));
  facts.add("kernels", info.simd);
  facts.add("engine", with_reason(name_of(info.engine), engine_reason(info.engine)));
  facts.add("protection",
            with_reason(name_of(info.protection), protection_reason(info.protection)));
  facts.add("checksum", name_of(info.checksum));
  facts.add("zones", fmt::format("{} of {}", info.zone_count, size_text(info.zone_size)));
  facts.add("rows", fmt::format("{} data + {} parity of {} each", info.rows, info.parity,
                                exact_size_text(info.row_size)));
  facts.add("repair", repair_reason(info));
  facts.add("chunks", fmt::format("{} of {}, {} free ({})", count_text(info.chunk_count),
                                  size_text(info.chunk_size), count_text(info.chunks_free),
                                  size_text(info.chunks_free * info.chunk_size)));
  facts.add("lanes", fmt::format("{} with logs of {}{}", info.lanes, size_text(info.lane_size),
                                 info.protection == SCUTE_PROTECT_NONE ? "" : " and a replica"));
  if (info.log_file != 0)
    facts.add("log file", with_reason(path + ".log", fmt::format("{}; goes where the pool goes",
                                                                 exact_size_text(info.log_file))));
  facts.add("overhead", fmt::format("{:.1f} % of the file ({}) for parity, logs and metadata",
                                    overhead_percent(info), size_text(info.overhead)));
  return facts;
}

json geometry_json(const std::string& path, const scute_info& info) {
  return {{"path", path},
          {"uuid", uuid_text(info.uuid)},
          {"layout", info.layout},
          {"size", info.size},
          {"version", info.version},
          {"medium", name_of(info.medium)},
          {"file_system", file_system_of(path)},
          {"map_sync", info.map_sync != 0},
          {"eadr", info.eadr != 0},
          {"flush", info.flush},
          {"simd", info.simd},
          {"engine", name_of(info.engine)},
          {"protection", name_of(info.protection)},
          {"checksum", name_of(info.checksum)},
          {"rows", info.rows},
          {"parity", info.parity},
          {"row_size", info.row_size},
          {"zone_size", info.zone_size},
          {"zone_count", info.zone_count},
          {"chunk_size", info.chunk_size},
          {"chunk_count", info.chunk_count},
          {"chunks_free", info.chunks_free},
          {"lanes", info.lanes},
          {"lane_size", info.lane_size},
          {"log_file", info.log_file != 0 ? json(path + ".log") : json(nullptr)},
          {"log_file_size", info.log_file},
          {"overhead", info.overhead},
          {"overhead_percent", overhead_percent(info)},
          {"tag", info.tag}};
}

void warn_of_little_room(const std::string& path, uint64_t size) {
  struct statvfs fs{};
  struct stat file{};
  if (::statvfs(path.c_str(), &fs) != 0 || ::stat(path.c_str(), &file) != 0) return;
  const uint64_t has = static_cast<uint64_t>(file.st_blocks) * 512;
  const uint64_t free = static_cast<uint64_t>(fs.f_bavail) * fs.f_frsize;
  if (size - std::min(size, has) <= free) return;
  print_error(
      "scute: {}: the file system has {} free, which is less than this pool of {} may use; make "
      "room there, or choose a smaller --size (--preallocate reserves all of it now)\n",
      path, size_text(free), size_text(size));
}

void add_lost_log(fact_sheet& facts, const scute_info& info) {
  if (info.lost_logs == 0) return;
  facts.add(
      "lost log",
      fmt::format(
          "opened without it {}, after session {}{}", time_text(info.lost_log_opened_ns),
          count_text(info.lost_log_session),
          info.lost_logs == 1 ? "" : fmt::format("; {} times in all", count_text(info.lost_logs))));
  facts.add("may be missing",
            info.lost_log_since_ns == 0
                ? std::string("commits since the last checkpoint; when that was is unknown")
                : fmt::format("commits since {} of that session, none before",
                              time_text(info.lost_log_since_ns)));
}

json lost_log_json(const scute_info& info) {
  if (info.lost_logs == 0) return nullptr;
  return {{"session", info.lost_log_session},
          {"since_ns", info.lost_log_since_ns != 0 ? json(info.lost_log_since_ns) : json(nullptr)},
          {"opened_ns", info.lost_log_opened_ns},
          {"times", info.lost_logs}};
}

void add_session_facts(fact_sheet& facts, const scute_info& info) {
  facts.add("epoch", fmt::format("{} (times opened for writing)", count_text(info.epoch)));
  facts.add("last session", info.clean != 0 ? "closed properly" : "ended without closing the pool");
  facts.add("recovery", recovery_text(info));
  facts.add("repaired", info.repaired == 0
                            ? "nothing was damaged"
                            : fmt::format("{} structures (in private memory; `scute check "
                                          "--repair` writes them)",
                                          count_text(info.repaired)));
  facts.add("lost", info.lost == 0 ? "nothing was met that could not be rebuilt"
                                   : fmt::format("{} structures or objects, beyond the redundancy",
                                                 count_text(info.lost)));
  if (info.log_cap != 0)
    facts.add("log", fmt::format("{} of {} in use, void up to {}", size_text(info.log_used),
                                 size_text(info.log_cap), count_text(info.log_truncation_point)));
  add_lost_log(facts, info);
  facts.add("policy", policy_text(info.policy, info.scrub_every));
  facts.add("last scrub", info.last_scrub_ns == 0 ? "never" : time_text(info.last_scrub_ns));
  if (info.scrub_position != 0)
    facts.add("unfinished scrub", fmt::format("interrupted after {}; `scute scrub` continues there",
                                              exact_size_text(info.scrub_position)));
  facts.add("lost pages", info.fault_handler != 0
                              ? "are rebuilt when they are touched (SIGBUS is handled)"
                              : "end the process (SIGBUS is not handled)");
  facts.add("open took", duration_text(static_cast<double>(info.open_ns) / 1e9));
}

void add_session_json(json& document, const scute_info& info) {
  document["epoch"] = info.epoch;
  document["clean"] = info.clean != 0;
  document["recovered"] = info.recovered;
  document["recovery_ns"] = info.recovery_ns;
  document["unresolved"] = info.unresolved;
  document["rolled_back"] = info.rolled_back;
  document["finished"] = info.finished;
  if (info.log_cap != 0)
    document["log"] = {{"cap", info.log_cap},
                       {"used", info.log_used},
                       {"truncation_point", info.log_truncation_point}};
  document["lost_log"] = lost_log_json(info);
  document["repaired"] = info.repaired;
  document["lost"] = info.lost;
  document["pages_repaired"] = info.pages_repaired;
  document["policy"] = policy_text(info.policy, info.scrub_every);
  document["last_scrub_ns"] = info.last_scrub_ns;
  document["scrub_position"] = info.scrub_position;
  document["fault_handler"] = info.fault_handler != 0;
  document["open_ns"] = info.open_ns;
}

}  // namespace scute_tool
