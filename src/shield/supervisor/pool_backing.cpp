// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/pool_backing.hpp"

#include <scute/shield_room.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <chrono>
#include <optional>
#include <thread>
#include <utility>

#include "base/failure.hpp"
#include "base/locks/supervisor_lock.hpp"

namespace scute::core::supervisor {
namespace {

// As many lines as the smallest log of every engine has room for.
constexpr size_t lines_of_commit = 1536;

constexpr std::chrono::milliseconds busy_pause{2};
constexpr unsigned busy_looks = 2500;

bool is_on_tmpfs(const std::string& path) noexcept {
  struct statfs s{};
  return ::statfs(path.c_str(), &s) == 0 && s.f_type == TMPFS_MAGIC;
}

void check(int result) {
  if (result < 0) throw failure(static_cast<scute_error>(result), scute_errormsg());
}

}  // namespace

std::string why_unprotected(const std::string& path) {
  scute_shield_condition condition{};
  const int result = scute_shield_look(path.c_str(), &condition, nullptr);
  return result == SCUTE_E_INVALID || result == SCUTE_E_FORMAT ? scute_errormsg() : "";
}

pool_backing::pool_backing(const std::string& path, if_busy then, if_read_only else_then,
                           opened_for whom)
    : path_(path), is_timeless_(is_on_tmpfs(path)) {
  std::optional<for_supervisor> supervisors;
  if (whom == opened_for::supervisor) supervisors.emplace();
  scute_options o;
  scute_options_init(&o);
  const auto open = [&] {
    int opened = scute_shield_open(path.c_str(), &o, &pool_);
    for (unsigned i = 0; opened == SCUTE_E_BUSY && then == if_busy::wait && i < busy_looks; ++i) {
      std::this_thread::sleep_for(busy_pause);
      opened = scute_shield_open(path.c_str(), &o, &pool_);
    }
    return opened;
  };
  int opened = open();
  if (opened == SCUTE_E_READONLY && else_then == if_read_only::read) {
    o.flags |= SCUTE_READONLY;
    is_read_only_ = true;
    opened = open();
  }
  check(opened);
  try {
    scute_shield_state state{};
    state.struct_size = sizeof state;
    check(scute_shield_info(pool_, &state));
    capacity_ = state.capacity;
    size_.store(state.size, std::memory_order_release);
    changes_.reserve(lines_of_commit);
    check(scute_recovery_wait(pool_, nullptr, nullptr));
  } catch (...) {
    scute_close(pool_);
    throw;
  }
}

pool_backing::~pool_backing() {
  if (pool_ != nullptr) scute_close(pool_);
}

void pool_backing::close() {
  set_time();
  check(scute_close(std::exchange(pool_, nullptr)));
}

uint64_t pool_backing::repairs() const noexcept {
  scute_info now{};
  now.struct_size = sizeof now;
  if (pool_ == nullptr || scute_pool_info(pool_, &now) < 0) return 0;
  return now.repaired + now.pages_repaired;
}

bool pool_backing::noted(int result) noexcept {
  if (result >= 0) return true;
  had_no_room_.store(result == SCUTE_E_NOSPC, std::memory_order_relaxed);
  try {
    const std::lock_guard hold(why_lock_);
    why_ = scute_errormsg();
  } catch (const std::exception&) {
  }
  return false;
}

std::string pool_backing::why() const {
  const std::lock_guard hold(why_lock_);
  return why_;
}

void pool_backing::set_time() noexcept {
  if (!is_timeless_ || !has_changed_.exchange(false)) return;
  const timespec change[] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  ::utimensat(AT_FDCWD, path_.c_str(), change, 0);
}

bool pool_backing::drain() noexcept {
  return is_read_only_ || noted(scute_drain(pool_));
}

bool pool_backing::read(uint64_t offset, std::span<std::byte> to) noexcept {
  return noted(scute_shield_read(pool_, offset, to.data(), to.size()));
}

bool pool_backing::commit(std::span<const view::change> set) noexcept {
  changes_.clear();
  // Adjacent lines become one change: fewer ranges, and fewer records of the engine.
  for (const view::change& c : set) {
    if (!changes_.empty()) {
      scute_shield_replacement& last = changes_.back();
      if (last.offset + last.length == c.offset &&
          static_cast<const std::byte*>(last.bytes) + last.length == c.bytes &&
          static_cast<const std::byte*>(last.old) + last.length == c.old) {
        last.length += c.length;
        continue;
      }
    }
    changes_.push_back({c.offset, c.bytes, c.old, c.length});
  }
  has_changed_.store(true, std::memory_order_relaxed);
  return noted(scute_shield_replace(pool_, changes_.data(), changes_.size()));
}

bool pool_backing::grow(uint64_t size) noexcept {
  if (!noted(scute_shield_grow(pool_, size))) return false;
  size_.store(size, std::memory_order_release);
  return true;
}

bool pool_backing::reserve(uint64_t size) noexcept {
  return noted(scute_shield_reserve(pool_, size));
}

size_t pool_backing::lines_max() const noexcept {
  return lines_of_commit;
}

std::span<const std::byte> pool_backing::raw(uint64_t offset) noexcept {
  scute_oid oid{};
  uint64_t at = 0, length = 0;
  if (scute_shield_locate(pool_, offset, &oid, &at, &length) < 0) return {};
  return {reinterpret_cast<const std::byte*>(scute_direct_base(pool_) + oid) + at, length};
}

bool pool_backing::repair(uint64_t offset, size_t n) noexcept {
  constexpr size_t piece = 4096;
  std::byte room[piece];
  for (uint64_t at = offset; at < offset + n; at += piece)
    if (!read(at, {room, std::min<size_t>(piece, offset + n - at)})) return false;
  return true;
}

}  // namespace scute::core::supervisor
