// SPDX-License-Identifier: BSD-3-Clause
// A stamp_system from a template of workloads/stamp and a home: a store and the file that it is in.
#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "systems/drain_home.hpp"
#include "systems/stamp_system.hpp"
#include "workloads/stamp/on_store.hpp"
#include "workloads/stores/volatile_store.hpp"

namespace scute::bench {

template <class Home, class Input>
class stamp_on final : public stamp_system {
 public:
  using store = typename Home::store_type;
  using application = typename workloads::stamp::application_for<Input>::template on<store>;

  template <class... Args>
  stamp_on(const Input& input, unsigned threads, Args&&... args)
      : home_(std::forward<Args>(args)...), application_(home_.store(), input, threads) {
    application_.prepare();
  }
  ~stamp_on() override {
    // Elsewhere the objects go with the file.
    if constexpr (std::is_same_v<store, workloads::volatile_store>) application_.clear();
  }

  uint64_t run(unsigned thread) override { return application_.run(thread); }
  std::string check() override { return application_.check(); }
  bool drain() override { return drain_home(home_); }
  bool count(costs& out) override { return home_.count(out); }

 private:
  Home home_;
  application application_;
};

template <class Home, class... Args>
std::unique_ptr<stamp_system> make_stamp_on(const stamp_task& task, Args&&... args) {
  return std::visit(
      [&]<class Input>(const Input& input) -> std::unique_ptr<stamp_system> {
        return std::make_unique<stamp_on<Home, Input>>(input, task.threads,
                                                       std::forward<Args>(args)...);
      },
      task.input);
}

}  // namespace scute::bench
