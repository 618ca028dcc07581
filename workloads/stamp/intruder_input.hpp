// SPDX-License-Identifier: BSD-3-Clause
// Traffic of a network: flows of text in packets that arrive in any order. Some flows carry the
// signature of an attack, which may lie across packets. A signature begins with a character that no
// other text has.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/dice.hpp"

namespace scute::workloads::stamp {

struct intruder_setup {
  uint64_t flows;
  uint32_t packets_max;  // of a flow
  unsigned attack_percent;
  uint64_t seed = 1;
};

struct intruder_input {
  static constexpr uint32_t packet_bytes = 16;
  static constexpr std::string_view signatures[] = {"#about",   "#buffer",  "#shellcode",
                                                    "#overrun", "#rootkit", "#worm"};
  struct packet {
    uint64_t flow;
    uint32_t index, count;  // of the flow's packets
    uint32_t length;
    char bytes[packet_bytes];
  };
  std::vector<std::string> texts;  // of the flows
  std::vector<bool> attacks;       // the flows that are one
  std::vector<packet> packets;     // in the order of their arrival

  // Does the text have a signature?
  static bool suspicious(std::string_view text) {
    return std::ranges::any_of(
        signatures, [&](std::string_view s) { return text.find(s) != std::string_view::npos; });
  }

  explicit intruder_input(const intruder_setup& how) {
    dice random(how.seed);
    for (uint64_t flow = 0; flow < how.flows; ++flow) {
      const auto count = static_cast<uint32_t>(random.between(1, how.packets_max));
      std::string text(random.between(std::max(count, packet_bytes), count * packet_bytes), ' ');
      for (char& c : text) c = static_cast<char>('a' + random.below(26));
      const bool attack = random.percent(how.attack_percent);
      if (attack) {
        const std::string_view s = signatures[random.below(std::size(signatures))];
        text.replace(random.below(text.size() - s.size() + 1), s.size(), s);
      }
      cut(flow, count, text, random);
      texts.push_back(text);
      attacks.push_back(attack);
    }
    random.shuffle(packets);
  }

 private:
  void cut(uint64_t flow, uint32_t count, const std::string& text, dice& random) {
    std::vector<uint32_t> lengths(count, 1);
    for (uint64_t left = text.size() - count; left != 0;) {
      uint32_t& length = lengths[random.below(count)];
      if (length == packet_bytes) continue;
      ++length;
      --left;
    }
    uint64_t at = 0;
    for (uint32_t i = 0; i < count; at += lengths[i++]) {
      packet p{flow, i, count, lengths[i], {}};
      std::memcpy(p.bytes, text.data() + at, p.length);
      packets.push_back(p);
    }
  }
};

}  // namespace scute::workloads::stamp
