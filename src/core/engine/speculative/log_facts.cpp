// SPDX-License-Identifier: BSD-3-Clause
// Reports about the log of engine `spec`: its size, its fill, and the LSN up to which it is void.
#include "core/engine/speculative/recovery/replay.hpp"
#include "core/engine/speculative/recovery/truncation_point.hpp"
#include "core/engine/speculative/speculative.hpp"

namespace scute::core::engine {
namespace {

void report(tx::engine::log_state& all, const commit_log& log) noexcept {
  const commit_log::fill f = log.how_full();
  all.cap = f.all;
  all.used = f.used;
  all.truncation_point = log.truncation_point();
}

}  // namespace

tx::engine::log_state speculative::log() const noexcept {
  log_state all = seen_log_;
  if (in_file_ != nullptr)
    all.file = in_file_->length();
  else if (s_.log_paths != nullptr && (s_.sb.incompat & format::incompat_log_file) != 0)
    all.file = log_in_file::file_size(s_);
  if (log_ != nullptr) report(all, *log_);
  return all;
}

// For a session that only reads, and appends to no log. It reports the state of the log file, if
// that exists and can be read.
void speculative::look_at_log_file() noexcept {
  try {
    const std::unique_ptr<log_in_file> found =
        location_ == nullptr ? log_in_file::seen(s_) : nullptr;
    log_location* const location = location_ != nullptr ? location_.get() : found.get();
    if (location == nullptr) return;
    const segment_list list = location->read();
    // TRUNC-1: after a clean closing the words have all of it, and no segment need be read.
    const uint64_t truncation_point = unclean_ ? find_truncation_point(s_, *location, list)
                                               : read_truncation_point(s_, *location).lsn;
    // (If the recovery was in this session's memory only, the next one finds all of it again.)
    report(seen_log_, commit_log(s_, *location, list, truncation_point, last_frames_));
    seen_log_.truncation_point = truncation_point;
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): its opening reports it
  }
}

void speculative::look_at_log(bool repair, const tx::log_finding_fn& report) {
  if (scrubber_ != nullptr) scrubber_->look(repair, report);
}

void speculative::for_each_live_log(
    const std::function<void(uint64_t offset, uint64_t length)>& fn) {
  if (scrubber_ != nullptr) scrubber_->for_each_live(fn);
}

std::optional<uint64_t> speculative::record_room(uint64_t chunks) {
  if (room_ == nullptr || log_->is_apart()) return {};
  return room_->records_for(chunks);
}

// On a disk prewriting costs several syncs, and more records cost none. A log is not to grow by
// more than this for new objects.
bool speculative::logs_payload(pool::lane& l, uint64_t bytes) {
  constexpr uint64_t logged_max = uint64_t{16} << 20;
  return log_ != nullptr && log_->is_apart() && bytes <= logged_max &&
         room_->has_room_for(l, bytes);
}

}  // namespace scute::core::engine
