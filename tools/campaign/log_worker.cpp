// SPDX-License-Identifier: BSD-3-Clause
#include "log_worker.hpp"

#include "check_call.hpp"
#include "dice.hpp"

#include <fmt/format.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace scute_campaign {

using namespace scute_tools;

void log_model::add(std::vector<size_t> objects) {
  std::ranges::sort(objects);
  objects.erase(std::ranges::unique(objects).begin(), objects.end());
  plan_.push_back(std::move(objects));
  for (const size_t i : plan_.back()) writers_[i].push_back(plan_.size());
}

uint64_t log_model::version(size_t object, uint64_t upto) const {
  const auto& all = writers_[object];
  const auto next = std::ranges::upper_bound(all, upto);
  return next == all.begin() ? 0 : *std::prev(next);
}

void log_model::fill(std::byte* to, size_t object, uint64_t version, uint64_t n) const noexcept {
  scute_tools::fill(to, mix(mix(seed_, object), version), n);
}

uint64_t log_model::version_of(size_t object, std::span<const std::byte> bytes) const {
  std::vector<std::byte> want(bytes.size());
  const auto is = [&](uint64_t version) {
    fill(want.data(), object, version, want.size());
    return std::ranges::equal(want, bytes);
  };
  for (const uint64_t version : writers_[object])
    if (is(version)) return version;
  return is(0) ? 0 : UINT64_MAX;
}

log_worker::log_worker(const std::string& path, const log_model& model,
                       std::span<const scute_oid> oids, uint64_t done) {
  void* at =
      mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  board_ = new (at) board;
  board_->done = board_->limit = done;
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) {
    munmap(board_, sizeof(board));
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (pid_ != 0) return;
  try {
    run(path, model, oids);
    _exit(0);
  } catch (const std::exception& e) {
    std::strncpy(board_->text, e.what(), sizeof board_->text - 1);
    board_->failed = true;
    _exit(1);
  }
}

log_worker::~log_worker() {
  kill();
  munmap(board_, sizeof(board));
}

void log_worker::turn(scute_pool* pool) const {
  if (board_->drains != board_->drained) {
    need(scute_drain(pool));
    ++board_->drained;
  }
  if (board_->scrubs != board_->scrubbed) {
    scute_report r = sized<scute_report>();
    need(scute_check(pool, 1, &r, nullptr, nullptr, nullptr));
    if (r.lost != 0)
      throw std::runtime_error(fmt::format("a check of the open pool finds {} losses", r.lost));
    ++board_->scrubbed;
  }
}

void log_worker::run(const std::string& path, const log_model& model,
                     std::span<const scute_oid> oids) {
  scute_pool* pool = nullptr;
  need(scute_open(path.c_str(), nullptr, &pool));
  while (!board_->close) {
    turn(pool);
    const uint64_t number = board_->done + 1;
    if (number > board_->limit) {
      usleep(50);
      continue;
    }
    scute_tx* tx = nullptr;
    need(scute_tx_begin(pool, &tx));
    for (const size_t i : model.plan(number)) {
      void* to = nullptr;
      uint64_t size = 0;
      need(scute_object_info(pool, oids[i], &size, nullptr, nullptr));
      need(scute_tx_open(tx, oids[i], &to));
      model.fill(static_cast<std::byte*>(to), i, number, size);
    }
    need(scute_tx_commit(tx));
    board_->done = number;
  }
  turn(pool);
  need(scute_close(pool));
}

template <typename Fn>
void log_worker::until(Fn&& fn) {
  while (!fn()) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      if (board_->failed) throw std::runtime_error(board_->text);
      if (WIFSIGNALED(status))
        throw std::runtime_error(fmt::format("the worker died of signal {}", WTERMSIG(status)));
      if (fn()) return;
      throw std::runtime_error("the worker gave up");
    }
    usleep(50);
  }
}

void log_worker::let(uint64_t upto) {
  board_->limit = upto;
}

void log_worker::wait(uint64_t upto) {
  let(std::max(upto, board_->limit.load()));
  until([&] { return board_->done >= upto; });
}

void log_worker::repair() {
  const uint32_t wanted = ++board_->scrubs;
  until([&] { return board_->scrubbed == wanted; });
}

void log_worker::drain() {
  const uint32_t wanted = ++board_->drains;
  until([&] { return board_->drained == wanted; });
}

void log_worker::close() {
  board_->close = true;
  int status = 0;
  waitpid(std::exchange(pid_, -1), &status, 0);
  if (board_->failed) throw std::runtime_error(board_->text);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("the worker did not end properly");
}

uint64_t log_worker::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, -1), nullptr, 0);
  }
  return board_->done;
}

}  // namespace scute_campaign
