// SPDX-License-Identifier: BSD-3-Clause
// A table of texts: the simplest serializer, with an undo.
#pragma once

#include <cstring>
#include <map>
#include <string>

#include "pow/sections/section.hpp"

namespace scute::core::pow {

class cells final : public serializer {
 public:
  std::map<uint64_t, std::string> texts;
  table* t = nullptr;

  uint32_t measure(uint64_t index) override {
    return static_cast<uint32_t>(texts.at(index).size());
  }
  void encode(uint64_t index, std::byte* to, uint32_t) override {
    const std::string& s = texts.at(index);
    std::memcpy(to, s.data(), s.size());
  }
  void load(uint64_t index, uint32_t, const std::byte* bytes, uint32_t n) override {
    texts[index].assign(reinterpret_cast<const char*>(bytes), n);
  }

  // Where indexes are not chosen: a new one.
  uint64_t make(section& s, std::string text) {
    const uint64_t index = s.take_index(*t);
    put(s, index, std::move(text));
    return index;
  }
  // One that has this text, or none: SIZE_MAX.
  uint64_t find(const std::string& text) const {
    for (const auto& [index, there] : texts)
      if (there == text) return index;
    return SIZE_MAX;
  }
  // Makes it or changes it.
  void put(section& s, uint64_t index, std::string text) {
    const auto at = texts.find(index);
    if (at == texts.end())
      s.insert(*t, index);
    else if (!s.edit(*t, index, section::any_tag)) {
      at->second = std::move(text);
      return;
    }
    save(s, index);
    texts[index] = std::move(text);
  }
  void erase(section& s, uint64_t index) {
    s.erase(*t, index, section::any_tag);
    save(s, index);
    texts.erase(index);
  }
  std::string get(uint64_t index) const {
    const auto at = texts.find(index);
    return at == texts.end() ? "-" : at->second;
  }
  std::string all() const {
    std::string s;
    for (const auto& [index, text] : texts)
      s += std::to_string(index) + "=" +
           (text.size() < 20 ? text : text.substr(0, 8) + "..." + std::to_string(text.size())) +
           " ";
    return s;
  }

 private:
  struct saved {
    uint64_t index;
    bool there;
    std::string text;
  };
  void save(section& s, uint64_t index) {
    const auto at = texts.find(index);
    auto* what = new saved{index, at != texts.end(), at == texts.end() ? "" : at->second};
    s.add_action({[](void* who, void* p) {
                    auto& c = *static_cast<cells*>(who);
                    auto* old = static_cast<saved*>(p);
                    if (old->there)
                      c.texts[old->index] = old->text;
                    else
                      c.texts.erase(old->index);
                    delete old;
                  },
                  [](void*, void* p) { delete static_cast<saved*>(p); }, this, what});
  }
};

}  // namespace scute::core::pow
