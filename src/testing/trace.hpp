// SPDX-License-Identifier: BSD-3-Clause
// The events of a scenario's run, store by store: enough to build every image that a failure at any
// moment could have left.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/persistence_model.hpp"
#include "model/simulated_memory.hpp"

namespace scute::testing {

enum class event_kind : uint8_t {
  streamed,
  stored,
  found,  // by comparison, at the next event
  flushed,
  fenced,
  damaged,  // by the scenario: durable at once
  begun,    // a step; offset is its number among its actor's
  ended
};

struct event {
  event_kind what;
  uint8_t actor;
  uint16_t writer;
  uint32_t length;
  uint64_t offset;
  uint32_t bytes;  // index into trace::data, of what streamed, stored, found, damaged have stored
};

struct trace {
  model::persistence_model::image base;  // durable before the first event
  std::vector<event> events;
  std::vector<std::byte> data;

  // Applies the event to the model.
  void replay(const event& e, model::persistence_model& m) const;
};

// Listens to a memory and writes the trace. `turn` is called before every operation.
class recorder final : public model::memory_listener {
 public:
  explicit recorder(model::simulated_memory& m);

  void before(uint64_t offset, size_t n) override;
  void streamed(uint64_t offset, size_t n, unsigned writer) override;
  void stored(uint64_t offset, size_t n) override;
  void flushed(uint64_t offset, size_t n, unsigned writer) override;
  void fenced(unsigned writer) override;
  void damaged(uint64_t offset, size_t n) override;

  void mark(event_kind what, uint64_t step);
  // Looks for unannounced stores; called at fences and marks, and for the lines of every other
  // operation before it overwrites or flushes them.
  void compare();
  // Changes the memory without the program's knowledge.
  void damage(uint64_t offset, const std::byte* bytes, size_t n);

  unsigned actor = 0;  // the running thread
  struct turn_call {
    void (*call)(void*, bool fence) = nullptr;
    void* arg = nullptr;
  } turn;
  trace result;

 private:
  void add(event_kind what, uint64_t offset, size_t n, unsigned writer);
  void compare_lines(uint64_t offset, size_t n);

  model::simulated_memory& memory_;
  model::persistence_model::image seen_;  // the memory after all events so far
};

}  // namespace scute::testing
