// SPDX-License-Identifier: BSD-3-Clause
#include "guest/fibers.hpp"

#include <ucontext.h>

#include <array>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <unordered_map>
#include <vector>

#include "guest/marks.hpp"

namespace scute::sim {
namespace {

constexpr unsigned fibers_max = 2;
constexpr size_t stack_bytes = 1U << 20;

struct fiber {
  ucontext_t context{};
  std::vector<char> stack;
  bool over = false;
  const void* wants = nullptr;  // the lock that another one has
  const int* asleep = nullptr;  // until the word is another than `value`
  int value = 0;
  std::exception_ptr error;
};

struct crew {
  std::array<fiber, fibers_max> all;
  unsigned n = 0, now = 0;
  ucontext_t main{};
  const std::function<void(unsigned)>* body = nullptr;
  std::unordered_map<const void*, unsigned> owners;  // of locks
};
thread_local crew* crew_now;  // threads of the library's own have none

bool can_run(const crew& c, unsigned i) {
  const fiber& f = c.all[i];
  return !f.over && (f.wants == nullptr || c.owners.find(f.wants) == c.owners.end()) &&
         (f.asleep == nullptr || __atomic_load_n(f.asleep, __ATOMIC_SEQ_CST) != f.value);
}

// Continues with the fiber that the front end names, of those that can run.
void change() {
  crew& c = *crew_now;
  say(mark::pause);
  uint64_t ready = 0;
  for (unsigned i = 0; i < c.n; ++i)
    if (can_run(c, i)) ready |= uint64_t{1} << i;
  unsigned next = c.now;
  if (ready != 0) {
    say(mark::next_core, ready, c.n);
    next = static_cast<unsigned>(answer());
    // Without a front end there is no answer.
    while ((ready >> next & 1) == 0) next = (next + 1) % c.n;
  }
  const unsigned last = c.now;
  c.now = next;
  if (ready == 0) {
    swapcontext(&c.all[last].context, &c.main);
  } else if (next != last) {
    swapcontext(&c.all[last].context, &c.all[next].context);
  }
  say(mark::run_on, crew_now->now);
  say(mark::resume);
}

void enter() {
  crew& c = *crew_now;
  const unsigned self = c.now;
  say(mark::run_on, self);
  say(mark::resume);
  try {
    (*c.body)(self);
  } catch (...) {
    c.all[self].error = std::current_exception();
  }
  c.all[self].over = true;
  change();
}

}  // namespace

bool in_fibers() noexcept {
  return crew_now != nullptr;
}

void fiber_lock(const void* lock) {
  crew& c = *crew_now;
  change();
  const unsigned self = c.now;
  say(mark::pause);
  while (c.owners.find(lock) != c.owners.end()) {
    c.all[self].wants = lock;
    change();
    say(mark::pause);
  }
  c.all[self].wants = nullptr;
  c.owners[lock] = self;
  say(mark::resume);
  say(mark::locked, reinterpret_cast<uint64_t>(lock));
}

bool fiber_try_lock(const void* lock) {
  crew& c = *crew_now;
  const bool is_free = c.owners.find(lock) == c.owners.end();
  if (is_free) {
    c.owners[lock] = c.now;
    say(mark::locked, reinterpret_cast<uint64_t>(lock));
  }
  return is_free;
}

void fiber_unlock(const void* lock) {
  say(mark::unlocked, reinterpret_cast<uint64_t>(lock));
  say(mark::pause);
  crew_now->owners.erase(lock);
  say(mark::resume);
}

bool fiber_sleep(const int* word, int value) {
  if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) return false;
  crew& c = *crew_now;
  fiber& self = c.all[c.now];
  self.asleep = word;
  self.value = value;
  change();
  self.asleep = nullptr;
  say(mark::locked, reinterpret_cast<uint64_t>(word));
  return true;
}

void fiber_wake(const int* word) {
  say(mark::unlocked, reinterpret_cast<uint64_t>(word));
}

void run_fibers(unsigned n, const std::function<void(unsigned)>& body) {
  crew c;
  c.n = n < fibers_max ? n : fibers_max;
  c.body = &body;
  if (c.n == 1) {
    body(0);
    return;
  }
  say(mark::pause);
  for (unsigned i = 0; i < c.n; ++i) {
    fiber& f = c.all[i];
    f.stack.resize(stack_bytes);
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.data();
    f.context.uc_stack.ss_size = f.stack.size();
    makecontext(&f.context, enter, 0);
  }
  crew_now = &c;
  swapcontext(&c.main, &c.all[0].context);
  crew_now = nullptr;
  say(mark::run_on, 0);
  say(mark::resume);
  for (const fiber& f : c.all)
    if (f.error) std::rethrow_exception(f.error);
  for (unsigned i = 0; i < c.n; ++i)
    if (!c.all[i].over) throw std::logic_error("all fibers wait for each other");
}

}  // namespace scute::sim
