// SPDX-License-Identifier: BSD-3-Clause
#include "worker.hpp"

#include "mischief.hpp"

#include <fmt/format.h>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

namespace scute_torture {

namespace {

struct proof {  // root of a pool that a creator finished
  uint64_t number;
};
constexpr uint64_t proof_number = 0x5c07e;

// Continues where the killed worker stopped: its confirmed transactions are in the pool, and the
// announced one may be.
void resume(const scute::pool& pool, const actor& a, ledger::page& page, ledger& book) {
  const uint64_t announced = page.announced, confirmed = page.confirmed;
  const uint64_t found = a.number_in(pool);
  if (found < confirmed || found > announced)
    throw violation(fmt::format(
        "{}: the pool has its transactions up to {}, but {} were committed and {} begun.", a.name(),
        found, confirmed, announced));
  if (announced != confirmed) (found == announced ? book.found_new : book.found_old) += 1;
  page.confirmed = found;
  page.announced = found;
}

void step(const scute::pool& pool, actor& a, ledger::page& page) {
  const uint64_t n = page.confirmed + 1;
  if (page.full(n)) {  // the parent has not looked for long
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    return;
  }
  for (way how = a.inclination();; how = how == way::planned ? way::shrinking : way::idle) {
    page.announce(n, how);
    try {
      a.perform(pool, n, how);
      break;
    } catch (const scute::error& e) {
      if (e.which() != scute::errc::nospc || how == way::idle)
        throw std::runtime_error(fmt::format("{}, transaction {}: {}", a.name(), n, e.what()));
    }
  }
  page.confirmed = n;
}

void work(const settings& how, const std::string& path, const cast& actors, ledger& book,
          uint64_t round) {
  if (how.drill == "lock") keep_locked(path, how.pool());
  book.opening = true;
  auto pool = scute::pool::open(path, how.pool());
  const auto info = pool.info();
  if (info.clean == 0) book.opened += 1;
  actors.find_roots(pool);
  for (size_t i = 0; i < actors.size(); ++i) resume(pool, actors[i], book.pages[i], book);
  if (ended_some(pool)) book.replayed += 1;
  std::mutex turn;  // of the shared writer
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < how.threads; ++t)
    threads.emplace_back([&, t] {
      try {
        dice d(mix(how.seed ^ round, t));
        // A fork takes as long as a hundred transactions.
        const uint64_t calm = how.workload == "crowd" ? 5000 : 150;
        while (!book.stop) {
          if (d.one_in(how.workload == "crowd" ? 40 : 4)) {
            if (const std::unique_lock hold(turn, std::try_to_lock); hold.owns_lock())
              step(pool, actors[actors.shared()], book.pages[actors.shared()]);
          }
          actor& mine = actors[actors.own(t)];
          ledger::page& page = book.pages[actors.own(t)];
          step(pool, mine, page);
          if (d.one_in(calm)) make_mischief(pool, mine, book, d, [&] { step(pool, mine, page); });
        }
      } catch (const std::exception& e) {
        book.fail(e.what());
        _exit(3);
      }
    });
  book.open = true;
  for (auto& t : threads) t.join();
  pool.close();
  book.closed = true;
}

void create(const settings& how, const std::string& path, ledger& book) {
  scute::options o = how.pool();
  for (;;) {
    o.overwrite = book.created != 0;
    o.preallocate = book.created % 2 != 0;
    finish(scute::pool::create(path, o));
    book.created += 1;
  }
}

template <typename Fn>
pid_t start(ledger& book, Fn body) {
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("cannot fork: " + std::generic_category().message(errno));
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // no worker remains when the parent ends
  // The parent's last words are not the child's.
  for (const int s : {SIGABRT, SIGSEGV, SIGBUS, SIGALRM, SIGINT, SIGTERM}) std::signal(s, SIG_DFL);
  alarm(0);
  try {
    body();
  } catch (const std::exception& e) {
    book.fail(e.what());
    _exit(3);
  }
  _exit(0);
}

}  // namespace

pid_t start_worker(const settings& how, const std::string& path, const cast& actors, ledger& book,
                   uint64_t round) {
  book.opening = false;
  book.open = false;
  book.stop = false;
  book.closed = false;
  return start(book, [&] { work(how, path, actors, book, round); });
}

pid_t start_creator(const settings& how, const std::string& path, ledger& book) {
  book.created = 0;
  return start(book, [&] { create(how, path, book); });
}

int end(pid_t pid) {
  kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void finish(scute::pool pool) {
  const auto root = pool.root<proof>();
  pool.transact([&](scute::tx& tx) { tx.open(root).number = proof_number; });
  pool.close();
}

bool finished(const scute::pool& pool) {
  return pool.get_verified(pool.root<proof>()).number == proof_number;
}

bool ended_some(const scute::pool& pool) {
  const auto info = pool.info();
  return info.recovered != 0 || info.finished != 0 || info.rolled_back != 0;
}

}  // namespace scute_torture
