// SPDX-License-Identifier: BSD-3-Clause
// An ents_system from a work of workloads/ents and a home: a store and the file that it is in.
#pragma once

#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "systems/ents_system.hpp"
#include "workloads/ents/work.hpp"

namespace scute::bench {

template <class Home, class Work>
class ents_on final : public ents_system {
 public:
  template <class Task, class... Args>
  explicit ents_on(const Task& task, Args&&... args)
      : home_(std::forward<Args>(args)...), work_(home_.store(), task) {}
  ~ents_on() override {
    // Elsewhere the objects go with the file.
    if constexpr (requires { Home::frees; }) {
      home_.stop_writing();
      work_.clear();
    }
  }

  uint64_t run(unsigned thread, const workloads::ents::batch& requests) override {
    return std::visit(
        [&]<class Request>(const std::vector<Request>& all) -> uint64_t {
          if constexpr (requires { work_.run(thread, all); })
            return work_.run(thread, all);
          else
            return 0;  // requests of another task
        },
        requests);
  }
  std::string check() override { return work_.check(); }
  bool count(costs& out) override { return home_.count(out); }

 private:
  Home home_;
  Work work_;
};

template <class Home, class... Args>
std::unique_ptr<ents_system> make_ents_on(const ents_task& task, Args&&... args) {
  namespace ents = workloads::ents;
  using store = typename Home::store_type;
  using made = std::unique_ptr<ents_system>;
  const auto make = [&]<class Work>(std::type_identity<Work>, const auto& what) -> made {
    return std::make_unique<ents_on<Home, Work>>(what, std::forward<Args>(args)...);
  };
  if (const auto* const t = std::get_if<ents::map_task>(&task.what))
    return ents::with_map_work<store>(
        *t, [&]<class Work>(std::type_identity<Work> work) { return make(work, *t); });
  if (const auto* const t = std::get_if<workloads::tatp::setup>(&task.what))
    return make(std::type_identity<ents::tatp_work<store>>(), *t);
  if (const auto* const t = std::get_if<workloads::tpcc::setup>(&task.what))
    return make(std::type_identity<ents::tpcc_work<store>>(), *t);
  return make(std::type_identity<ents::level_work<store>>(), std::get<ents::level_task>(task.what));
}

}  // namespace scute::bench
