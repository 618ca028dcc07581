// SPDX-License-Identifier: BSD-3-Clause
//
// guestbook: a small program whose data survives being killed at any moment.
//
//   guestbook POOL                    signs a few names, prints the book
//   guestbook POOL sign NAME TEXT     adds an entry
//   guestbook POOL list               prints the book
//   guestbook POOL flood              signs as fast as it can until it is killed
//
// To see it survive:
//
//   $ ./guestbook book.pool flood &
//   $ sleep 1; kill -9 $!
//   $ ./guestbook book.pool list | tail -3
//
// Every entry is in three places: the list of entries, the number of entries of its author, and
// the total. They are changed in one transaction, so whenever the program is killed they agree;
// every start verifies that, and says so.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include <scute/containers.hpp>
#include <scute/scute.hpp>

namespace {

struct entry {
  scute::string author;
  scute::string text;
};

struct book {
  scute::vector<entry> entries;
  scute::ordered_map<scute::string, uint64_t> by_author;
  uint64_t total;
};

void sign(const scute::pool& pool, scute::ptr<book> root, std::string_view author,
          std::string_view text) {
  pool.transact([&](scute::tx& tx) {
    book& b = tx.open(root);
    entry& e = b.entries.emplace_back(tx);
    e.author.assign(tx, author);
    e.text.assign(tx, text);
    const auto [count, first_time] = b.by_author.try_emplace(tx, author, 0);
    ++*count;
    ++b.total;
  });
}

void list(const scute::pool& pool, scute::ptr<book> root) {
  const auto print = [&](const char* before, const scute::string& s) {
    const std::string_view text = s.view(pool);
    std::printf("%s%.*s", before, static_cast<int>(text.size()), text.data());
  };
  for (const entry& e : pool.get(root).entries.scan(pool)) {
    print("", e.author);
    print(": ", e.text);
    std::printf("\n");
  }
}

// Recounts what the transactions should have kept equal.
bool agrees(const scute::pool& pool, scute::ptr<book> root) {
  const book& b = pool.get(root);
  uint64_t sum = 0;
  for (const auto& [author, count] : b.by_author.scan(pool)) {
    sum += count;
  }
  return sum == b.total && b.entries.size() == b.total;
}

[[noreturn]] void flood(const scute::pool& pool, scute::ptr<book> root) {
  for (uint64_t i = pool.get(root).total;; ++i) {
    char author[32];
    std::snprintf(author, sizeof author, "guest %u", static_cast<unsigned>(i % 1000));
    sign(pool, root, author, "was here, and nothing could stop the writing of this line");
  }
}

int run(int argc, char** argv) {
  const std::string_view command = argc > 2 ? argv[2] : "";
  const scute::pool pool = scute::pool::open_or_create(
      argc > 1 ? argv[1] : "guestbook.pool", {.size = 256ULL << 20, .layout = "guestbook"});
  const scute::ptr<book> root = pool.root<book>();

  std::fprintf(stderr, "%llu entries, all counts %s; %llu interrupted transactions completed\n",
               static_cast<unsigned long long>(pool.get(root).total),
               agrees(pool, root) ? "agree" : "DISAGREE",
               static_cast<unsigned long long>(pool.info().recovered));
  if (!agrees(pool, root)) {
    return EXIT_FAILURE;
  }
  if (command == "sign" && argc == 5) {
    sign(pool, root, argv[3], argv[4]);
  } else if (command == "flood") {
    flood(pool, root);
  } else if (command == "list") {
    list(pool, root);
  } else if (command.empty()) {
    sign(pool, root, "Ada", "The engine might act upon other things besides number.");
    sign(pool, root, "Grace", "A ship in port is safe.");
    list(pool, root);
  } else {
    std::fprintf(stderr, "usage: guestbook POOL [sign NAME TEXT | list | flood]\n");
    return 2;
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "guestbook: %s\n", e.what());
    return EXIT_FAILURE;
  }
}
