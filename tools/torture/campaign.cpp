// SPDX-License-Identifier: BSD-3-Clause
#include "campaign.hpp"

#include "drill.hpp"
#include "last_words.hpp"
#include "mischief.hpp"
#include "worker.hpp"

#include <fmt/format.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

namespace scute_torture {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr unsigned patience_s = 120;    // for anything that takes milliseconds
constexpr unsigned unverified_max = 4;  // kills in a row without a look at the pool

// Times shorter than what a sleeping thread takes to wake up are waited for in a loop.
void pause_s(double seconds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  if (seconds > 200e-6) std::this_thread::sleep_until(until);
  while (std::chrono::steady_clock::now() < until) {
  }
}

bool ended(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

// False if the worker ended by itself, or nothing happened for long.
bool wait_for(const std::atomic<bool>& flag, pid_t pid, bool closely) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(patience_s / 2);
  for (uint64_t i = 1; !flag; ++i) {
    if (i % 1024 == 0 && (ended(pid) || std::chrono::steady_clock::now() > until)) return flag;
    if (!closely) std::this_thread::sleep_for(50us);
  }
  return true;
}

std::string ended_by(int status) {
  return WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                             : fmt::format("exit status {}", WEXITSTATUS(status));
}

}  // namespace

campaign::campaign(const settings& how, std::string folder)
    : how_(how),
      folder_(std::move(folder)),
      actors_(how),
      book_(ledger::make()),
      dice_(mix(how.seed, 0x70727565)),
      meter_(how.quiet) {}

uint64_t campaign::transactions() const {
  uint64_t sum = 0;
  for (const auto& page : book_.pages) sum += page.confirmed;
  return sum;
}

bool campaign::over() const {
  if (stop_requested()) return true;
  // A slow worker commits little between two kills, and what a drill spoils must be there first.
  const unsigned times = how_.drill.empty() || drilled_ ? 1 : 10;
  if (how_.kills != 0 && tally_.all_kills() >= how_.kills * times) return true;
  return how_.seconds != 0 && meter_.seconds() >= how_.seconds * times;
}

void campaign::show() {
  const double by_time = how_.seconds != 0 ? meter_.seconds() / how_.seconds : -1;
  const double by_kills =
      how_.kills != 0 ? static_cast<double>(tally_.all_kills()) / static_cast<double>(how_.kills)
                      : -1;
  meter_.show(std::max(by_time, by_kills), tally_.all_kills(), transactions());
}

void campaign::prepare() {
  auto pool = scute::pool::create(path(), how_.pool());
  actors_.prepare(pool);
  medium_ = pool.info().medium;
  pool.close();
}

void campaign::run() {
  unsigned unverified = 0;
  while (!over()) {
    watch(patience_s);
    ++rounds_;
    show();
    if (dice_.one_in(10)) {
      create_round();
      continue;
    }
    const moment when = round();
    keep_copy();
    // A pool that was just killed is opened by the next worker, which is killed in its turn, most
    // often while it recovers.
    if (unverified + 1 < unverified_max && (when == moment::opening || dice_.one_in(3))) {
      ++unverified;
      continue;
    }
    unverified = 0;
    verify();
  }
  verify_children(book_);
  verify();
  if (!how_.drill.empty() && !drilled_ && !stop_requested())
    throw std::runtime_error("The run was too short for its drill. Give it more kills or seconds.");
  verify_space();
  watch(0);
  meter_.clear();
}

// Starts a worker and ends it.
moment campaign::round() {
  const uint64_t choice = dice_.below(10);
  moment when = choice < 6 ? moment::working : choice < 8 ? moment::opening : moment::closing;
  // A disk takes milliseconds for what memory does in microseconds. A crowd fails in one of a
  // million transactions.
  const double slow = medium_ == SCUTE_MEDIUM_FILE || how_.workload == "crowd" ? 10 : 1;
  const double open_s = slow * dice_.skewed(1e-6, 1e-3), work_s = slow * dice_.skewed(20e-6, 40e-3),
               close_s = slow * dice_.skewed(1e-6, 1e-3);
  clean_.reset();
  const pid_t pid = start_worker(how_, path(), actors_, book_, rounds_);
  const std::atomic<bool>& begun = when == moment::opening ? book_.opening : book_.open;
  if (!wait_for(begun, pid, when == moment::opening)) {
    if (ended(pid)) must_have_been_killed(end(pid));
    end(pid);
    throw violation("the worker does not begin to open the pool.");
  }
  if (when == moment::opening) {
    pause_s(open_s);
    if (book_.open) when = moment::working;  // it was faster
  } else {
    pause_s(when == moment::working ? work_s : work_s / 10);
  }
  if (when == moment::closing) {
    book_.stop = true;
    pause_s(close_s);
  }
  const int status = end(pid);
  if (when == moment::closing && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    ++tally_.closed_in_time;
    clean_ = true;
    return when;
  }
  must_have_been_killed(status);
  if (when == moment::working) clean_ = false;
  ++tally_.kills[static_cast<size_t>(when)];
  return when;
}

void campaign::must_have_been_killed(int status) {
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && !book_.failed) return;
  keep_copy();
  throw violation(book_.failed ? "the worker found: " + book_.story()
                               : "the worker was ended by " + ended_by(status) + ".");
}

void campaign::keep_copy() {
  fs::copy_file(path(), killed_path(), fs::copy_options::overwrite_existing);
  if (fs::exists(path() + ".log"))
    fs::copy_file(path() + ".log", killed_path() + ".log", fs::copy_options::overwrite_existing);
}

// A process that makes pools, each over the one before. Once it has finished one, there must always
// be a whole pool: the old one or the new one.
void campaign::create_round() {
  const std::string path = folder_ + "/torture.created";
  const double work_s = dice_.skewed(30e-6, medium_ == SCUTE_MEDIUM_FILE ? 0.1 : 5e-3);
  const pid_t pid = start_creator(how_, path, book_);
  pause_s(work_s);
  const int status = end(pid);
  must_have_been_killed(status);
  ++tally_.kills[static_cast<size_t>(moment::creating)];
  const uint64_t created = book_.created;
  try {
    auto pool = scute::pool::open(path, how_.pool());
    // The kill may have come between the creation and the transaction after it.
    if (created == 1 && pool.info().epoch <= 2) finished(pool);
    if (pool.check().damaged != 0) throw violation("a pool that was just created is damaged.");
  } catch (const scute::error& e) {
    if (created != 0 || e.which() != scute::errc::noent)
      throw violation(
          fmt::format("after {} finished pools, {} cannot be opened: {}", created, path, e.what()));
  }
  create_again(path);
}

// Whatever the kill has left, the program that is started next makes its pool, in both ways, and no
// other file remains.
void campaign::create_again(const std::string& path) {
  const bool fresh = dice_.one_in(2);
  scute::options o = how_.pool();
  try {
    if (fresh) {
      o.overwrite = fs::exists(path);
      finish(scute::pool::create(path, o));
    } else {
      scute::pool::open_or_create(path, o).close();
    }
    const auto pool = scute::pool::open(path, how_.pool());
    if (fresh && !finished(pool)) throw violation("a pool that was just created lacks its object.");
  } catch (const scute::error& e) {
    throw violation(fmt::format("after a kill in creating, {} at {} fails: {}",
                                fresh ? "create with overwrite" : "open_or_create", path,
                                e.what()));
  }
  const std::string name = fs::path(path).filename();
  for (const auto& entry : fs::directory_iterator(folder_)) {
    const std::string found = entry.path().filename();
    // The log of engine spec on a disk is the pool's.
    if (found.starts_with(name) && found != name && found != name + ".log")
      throw violation(fmt::format("after a kill in creating, {} remains.", found));
  }
  fs::remove(path);
  fs::remove(path + ".log");
}

}  // namespace scute_torture
