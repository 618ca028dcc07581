// SPDX-License-Identifier: BSD-3-Clause
#include "mischief.hpp"

#include <fmt/format.h>

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

namespace scute_torture {

namespace {

using namespace std::chrono_literals;

ledger* book_of_child = nullptr;

[[noreturn]] void leave() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // They would miss the threads that the parent has.
  ++book_of_child->children_ended;
  _exit(0);
#else
  std::exit(0);
#endif
}

// A child may do little, since threads of its parent may have held any lock; refused calls are that
// little.
template <typename Fn>
pid_t fork_child(ledger& book, Fn body) {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  ++book.children;
  book_of_child = &book;
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  std::atexit([] { ++book_of_child->children_ended; });
#endif
  body();
  leave();
}

void must_be(ledger& book, int found, int expected, const char* what) {
  if (found != expected)
    book.fail(fmt::format("a forked child's {} returned {}, not {}", what, scute_errorname(found),
                          scute_errorname(expected)));
}

// The book reports it if it does not end.
void see_off(pid_t pid) {
  for (int i = 0; i < 2000 && waitpid(pid, nullptr, WNOHANG) == 0; ++i)
    std::this_thread::sleep_for(50us);
}

void try_to_write(ledger& book, scute_pool* pool, scute_oid oid) {
  scute_tx* tx = nullptr;
  void* buffer = nullptr;
  must_be(book, scute_tx_begin(pool, &tx), SCUTE_E_FORKED, "scute_tx_begin()");
  must_be(book, scute_obj_open(pool, oid, &buffer), SCUTE_E_FORKED, "scute_obj_open()");
  must_be(book, scute_drain(pool), SCUTE_E_FORKED, "scute_drain()");
}

void fork_in_transaction(const scute::pool& pool, const actor& a, ledger& book) {
  const uint64_t before = a.number_in(pool);
  pid_t pid = 0;
  {
    scute::transaction tx(pool);
    try {
      *reinterpret_cast<uint64_t*>(tx.in_place_bytes(a.root(), a.number_at(), 8)) = ~before;
    } catch (const scute::error& e) {
      if (e.which() != scute::errc::conflict) throw;  // the crowd's
      return;
    }
    scute_tx* const handle = tx.native_handle();
    pid = fork_child(book, [&] {
      must_be(book, scute_tx_commit(handle), SCUTE_E_FORKED, "scute_tx_commit()");
      must_be(book, scute_close(pool.native_handle()), SCUTE_OK, "scute_close()");
    });
  }
  see_off(pid);
  if (a.number_in(pool) != before)
    throw violation(a.name() + ": a transaction that was aborted during a fork has happened.");
}

// pthread_create() and no std::thread: one that is cancelled ends through no frame of its.
void in_thread(const std::function<void()>& body, bool cancelled) {
  struct job {
    const std::function<void()>& body;
    bool cancelled;
    std::exception_ptr thrown = nullptr;
    bool came_back = false;
  } mine{body, cancelled};
  pthread_t thread{};
  const int e = pthread_create(
      &thread, nullptr,
      [](void* arg) -> void* {
        auto* j = static_cast<job*>(arg);
        if (j->cancelled) pthread_cancel(pthread_self());
        try {
          j->body();
        } catch (const std::exception&) {
          j->thrown = std::current_exception();
        }
        j->came_back = true;
        if (j->cancelled) pthread_testcancel();
        return nullptr;
      },
      &mine);
  if (e != 0) return;
  pthread_join(thread, nullptr);
  if (mine.thrown) std::rethrow_exception(mine.thrown);
  if (!mine.came_back) throw violation("a thread was cancelled in a call into the library.");
}

void end_inside(const scute::pool& pool, const actor& a) {
  const uint64_t before = a.number_in(pool);
  in_thread(
      [&] {
        scute_tx* tx = nullptr;
        void* number = nullptr;
        scute_oid made = 0;
        scute::detail::check(scute_tx_begin(pool.native_handle(), &tx));
        const int e = scute_tx_inplace(tx, a.root(), a.number_at(), 8, &number);
        if (e == SCUTE_E_CONFLICT) return;  // the crowd's
        scute::detail::check(e);
        *static_cast<uint64_t*>(number) = ~before;
        if (scute_tx_alloc(tx, 1000, 0x4001, &made, nullptr) == SCUTE_E_NOSPC) return;
      },
      false);
  if (a.number_in(pool) != before)
    throw violation(a.name() + ": a transaction whose thread ended in it has happened.");
}

}  // namespace

void make_mischief(const scute::pool& pool, const actor& a, ledger& book, dice& d,
                   const std::function<void()>& step) {
  scute_pool* const handle = pool.native_handle();
  switch (d.below(6)) {
    case 0:
      return see_off(
          fork_child(book, [&] { must_be(book, scute_close(handle), SCUTE_OK, "scute_close()"); }));
    case 1:
      return see_off(fork_child(book, [&] {
        try_to_write(book, handle, a.root());
        must_be(book, scute_close(handle), SCUTE_OK, "scute_close()");
      }));
    case 2: {
      const double seconds = d.skewed(1e-3, 0.1);
      fork_child(book, [&] {  // by then its parent is killed, most likely
        usleep(static_cast<useconds_t>(seconds * 1e6));
        try_to_write(book, handle, a.root());
        must_be(book, scute_close(handle), SCUTE_OK, "scute_close()");
      });
      return;
    }
    case 3: return fork_in_transaction(pool, a, book);
    case 4: return end_inside(pool, a);
    default: return in_thread(step, true);
  }
}

void keep_locked(const std::string& path, const scute::options& how) {
  if (fork() != 0) return;
  for (int i = 0; i < 3000; ++i) {
    try {
      const auto pool = scute::pool::open(path, how);  // NOLINT(clang-analyzer-deadcode.DeadStores)
      std::this_thread::sleep_for(1s);
      _exit(0);
    } catch (const scute::error&) {
      std::this_thread::sleep_for(200us);
    }
  }
  _exit(1);
}

void verify_children(const ledger& book) {
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (book.children_ended < book.children && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  if (book.failed) throw violation("a child of a worker found: " + book.story());
  if (book.children_ended < book.children)
    throw violation(fmt::format("{} of {} children that workers forked did not end.",
                                book.children - book.children_ended, book.children.load()));
}

void meet_lost_page(const scute::pool& pool, const actor& a) {
  if (pool.info().parity == 0) return;
  const uint64_t before = a.number_in(pool);
  uint64_t found = 0;
  in_thread(
      [&] {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        scute::injection lost;
        lost.kind = SCUTE_INJURE_LOSE_PAGE;
        lost.offset = a.root() & 0x0000'ffff'ffff'f000u;
        pool.inject(lost);
        const void* bytes = nullptr;
        scute::detail::check(scute_get_verified(pool.native_handle(), a.root(), &bytes));
        std::memcpy(&found, static_cast<const std::byte*>(bytes) + a.number_at(), sizeof found);
      },
      false);
  if (found != before)
    throw violation(a.name() + ": its root was not rebuilt when its page was lost.");
}

}  // namespace scute_torture
