// SPDX-License-Identifier: BSD-3-Clause
// STAMP's intruder: detects attacks in the traffic of a network. For each packet there are three
// transactions: capture takes it from the queue in which it arrived; reassembly puts it among the
// packets of its flow, in order, and with the last one makes them a text and puts that into the
// queue of decoded flows; the third takes a text from there, if there is one. The search for
// signatures is outside of all transactions.
//
// The packets of a flow that is not complete hang on a red-black tree by the number of the flow.
// Everything is stored: packets, tree, texts and queues.
//
// Locks: one for each queue and one for the tree; reassembly holds the tree's, and with it that of
// the decoded flows when one is complete.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/maps/rbtree.hpp"
#include "workloads/stamp/fifo.hpp"
#include "workloads/stamp/intruder_input.hpp"
#include "workloads/stores/store.hpp"

namespace scute::workloads::stamp {

template <store S>
class intruder {
  using tx = typename S::tx;
  template <class T>
  using ptr = typename S::template ptr<T>;

 public:
  using input = intruder_input;

  struct packet {
    ptr<packet> next;  // in the queue, then in the flow
    input::packet content;
  };
  struct flow {
    uint64_t received;
    ptr<packet> first;
  };
  struct text {
    ptr<text> next;
    char bytes[120];
  };
  struct decoded {
    ptr<decoded> next;
    uint64_t flow, length;
    ptr<text> first;
  };
  using tree = rbtree<S, ptr<flow>>;
  using arrivals = fifo<S, packet>;
  using departures = fifo<S, decoded>;
  struct root {
    typename arrivals::root arrived;
    typename departures::root complete;
    ptr<typename tree::root> flows;
  };

  // The result for a flow.
  struct finding {
    uint64_t flow, text_hash;
    bool attack;
  };

  intruder(S& s, const input& traffic, unsigned threads)
      : store_(s), traffic_(traffic), root_(s.template root<root>()), findings_(threads) {}

  void prepare() {
    const root made = store_.transact([&](tx& t) {
      auto [arrived, a] = t.template make<typename arrivals::ends>();
      auto [complete, c] = t.template make<typename departures::ends>();
      auto [flows, f] = t.template make<typename tree::root>();
      root r{arrived, complete, flows};
      t.open(root_) = r;
      return r;
    });
    arrived_ = arrivals(made.arrived);
    complete_ = departures(made.complete);
    flows_ = tree(made.flows);
    constexpr size_t at_once = 64;
    for (size_t i = 0; i < traffic_.packets.size(); i += at_once)
      store_.transact([&](tx& t) {
        for (size_t j = i; j < std::min(i + at_once, traffic_.packets.size()); ++j) {
          auto [at, p] = t.template make<packet>();
          p.content = traffic_.packets[j];
          arrived_.push(t, at);
        }
      });
  }

  uint64_t run(unsigned thread) {
    uint64_t transactions = 0;
    std::string flow_text;
    for (;;) {
      const ptr<packet> p = capture();
      ++transactions;
      if (!p) return transactions;
      reassemble(p);
      transactions += 2;
      if (uint64_t number = 0; take_decoded(number, flow_text))
        findings_[thread].push_back({number, hash(flow_text), input::suspicious(flow_text)});
    }
  }

  // Of each thread, in its order.
  const std::vector<std::vector<finding>>& findings() const noexcept { return findings_; }
  static uint64_t hash(std::string_view text) {
    uint64_t h = text.size();
    for (const char c : text) h = key_hash(h ^ static_cast<unsigned char>(c));
    return h;
  }

  std::string check() const {
    const auto& r = store_.view();
    if (!arrived_.empty(r) || !complete_.empty(r)) return "intruder: a queue is not empty";
    if (r.get(r.get(root_).flows).top) return "intruder: a flow is not complete";
    std::vector<unsigned> seen(traffic_.texts.size());
    for (const auto& of_thread : findings_)
      for (const finding& f : of_thread) {
        if (f.flow >= seen.size() || seen[f.flow]++ != 0) return "intruder: a flow too many";
        if (f.attack != traffic_.attacks[f.flow]) return "intruder: attacks are confused";
        if (f.text_hash != hash(traffic_.texts[f.flow])) return "intruder: a text is wrong";
      }
    for (const unsigned n : seen)
      if (n == 0) return "intruder: a flow is lost";
    return "";
  }

  // When everything has been run.
  void clear() {
    store_.transact([&](tx& t) {
      const root r = t.get(root_);
      t.destroy(r.arrived);
      t.destroy(r.complete);
      t.destroy(r.flows);
      t.open(root_) = root{};
    });
  }

 private:
  ptr<packet> capture() {
    const std::lock_guard hold(arrived_lock_);
    return store_.transact([&](tx& t) { return arrived_.pop(t); });
  }

  void reassemble(ptr<packet> p) {
    const std::lock_guard hold(flows_lock_);
    std::unique_lock<std::mutex> also;
    const input::packet& content = store_.view().get(p).content;
    const ptr<flow>* known = flows_.get(store_.view(), content.flow);
    if ((known == nullptr ? 0 : store_.view().get(*known).received) + 1 == content.count)
      also = std::unique_lock(complete_lock_);
    store_.transact([&](tx& t) { reassemble(t, p); });
  }
  void reassemble(tx& t, ptr<packet> p) {
    const input::packet content = t.get(p).content;
    const ptr<flow>* const known = flows_.get(t, content.flow);
    const ptr<flow> at = known == nullptr ? ptr<flow>() : *known;
    const uint64_t before = at ? t.get(at).received : 0;
    if (before + 1 == content.count) {
      decode(t, content, p, at);
    } else if (at) {
      insert(t, at, p, content.index);
      t.edit(at, &flow::received) = before + 1;
    } else {
      auto [made, f] = t.template make<flow>();
      f = {1, p};
      unlink(t, p);
      flows_.insert(t, content.flow, made);
    }
  }
  // It comes from a queue.
  static void unlink(tx& t, ptr<packet> p) {
    if (t.get(p).next) t.edit(p, &packet::next) = ptr<packet>();
  }
  static void insert(tx& t, ptr<flow> at, ptr<packet> p, uint32_t index) {
    ptr<packet> before, after = t.get(at).first;
    while (after && t.get(after).content.index < index) before = after, after = t.get(after).next;
    t.edit(p, &packet::next) = after;
    if (before)
      t.edit(before, &packet::next) = p;
    else
      t.edit(at, &flow::first) = p;
  }

  // The last packet is not linked with the others before they go.
  void decode(tx& t, const input::packet& last, ptr<packet> last_at, ptr<flow> at) {
    auto [made, d] = t.template make<decoded>();
    d.flow = last.flow;
    text* block = nullptr;
    uint64_t used = 0;
    const auto append = [&](const input::packet& p) {
      for (uint32_t i = 0; i < p.length; ++i) {
        if (block == nullptr || used == sizeof(text::bytes)) {
          auto [next, b] = t.template make<text>();
          (block == nullptr ? d.first : block->next) = next;
          block = &b;
          used = 0;
        }
        block->bytes[used++] = p.bytes[i];
      }
      d.length += p.length;
    };
    bool added = false;
    for (ptr<packet> p = at ? t.get(at).first : ptr<packet>(); p;) {
      const packet here = t.get(p);
      if (!added && last.index < here.content.index) append(last), added = true;
      append(here.content);
      t.destroy(p);
      p = here.next;
    }
    if (!added) append(last);
    t.destroy(last_at);
    if (at) {
      flows_.remove(t, last.flow);
      t.destroy(at);
    }
    complete_.push(t, made);
  }

  bool take_decoded(uint64_t& number, std::string& out) {
    const std::lock_guard hold(complete_lock_);
    return store_.transact([&](tx& t) {
      out.clear();
      const ptr<decoded> at = complete_.pop(t);
      if (!at) return false;
      const decoded d = t.get(at);
      number = d.flow;
      for (ptr<text> p = d.first; p;) {
        const text& block = t.get(p);
        out.append(block.bytes, std::min<uint64_t>(sizeof block.bytes, d.length - out.size()));
        const ptr<text> next = block.next;
        t.destroy(p);
        p = next;
      }
      t.destroy(at);
      return true;
    });
  }

  S& store_;
  const input& traffic_;
  ptr<root> root_;
  arrivals arrived_;
  departures complete_;
  tree flows_{ptr<typename tree::root>()};
  std::mutex arrived_lock_, flows_lock_, complete_lock_;
  std::vector<std::vector<finding>> findings_;
};

}  // namespace scute::workloads::stamp
