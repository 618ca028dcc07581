// SPDX-License-Identifier: BSD-3-Clause
// A server of items in a mapped file (item_file.h), with several threads that serve it.
//
//     item_server FILE [--workers N] [--listen SOCKET] [--flush clwb|clflushopt|clflush]
//                 [--forget-flush]
//
// takes commands from standard input, or from up to 16 clients of a Unix socket at a time, one per
// line:
//     set KEY VALUE    get KEY    del KEY    list    check    shutdown
// When the effect of a command is durable, a line answers it: the command's number among its
// client's, then "N stored", "N full", "N too long", "N deleted", "N none" or "N is VALUE". Answers
// come in any order. One worker serves all commands on a key, in their order: the upper half of the
// key's FNV-1a hash, modulo the workers. list and check are done after the client's earlier
// commands: "KEY VALUE" for each item, in no order; "sound, N items", or what is wrong. shutdown,
// and the end of standard input, end the server.
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "arguments.h"
#include "item_file.h"

enum { workers_max = 16, clients_max = 16, waiting_max = 32, reply_max = items_chunk_max + 64 };

struct client {
  int out;
  FILE *in;
  pthread_t thread;
  pthread_mutex_t lock;  // of `out` and `open`
  pthread_cond_t done;
  unsigned open;  // commands that were not answered yet
  bool busy;      // the place is taken
};

struct command {
  struct client *from;
  unsigned long number;
  char *text;  // NULL: there is no more work
};

struct worker {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t more, room;
  struct command waiting[waiting_max];
  unsigned first, count;
};

static struct worker workers[workers_max];
static unsigned worker_count = 4;
static struct client clients[clients_max];
static pthread_mutex_t clients_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t clients_left = PTHREAD_COND_INITIALIZER;
static int listening = -1;

static void write_all(int to, const char *bytes, size_t n) {
  while (n > 0) {
    const ssize_t done = write(to, bytes, n);
    if (done <= 0) return;  // the client has gone
    bytes += done;
    n -= (size_t)done;
  }
}

static void reply(struct client *to, unsigned long number, const char *text, size_t n, bool value) {
  char line[reply_max];
  const int length =
      snprintf(line, sizeof line, "%lu %s%.*s\n", number, value ? "is " : "", (int)n, text);
  pthread_mutex_lock(&to->lock);
  write_all(to->out, line, (size_t)length);
  if (--to->open == 0) pthread_cond_broadcast(&to->done);
  pthread_mutex_unlock(&to->lock);
}

static void execute(const struct command *c) {
  const char *key = c->text + 4;
  const size_t key_length = strcspn(key, " ");
  const char *value = key + key_length + (key[key_length] == ' ');
  if (*c->text == 'g') {
    char room[items_chunk_max];
    const long n = items_get(key, key_length, room);
    reply(c->from, c->number, n < 0 ? "none" : room, n < 0 ? 4 : (size_t)n, n >= 0);
  } else {
    const char *answer = *c->text == 's' ? items_set(key, key_length, value, strlen(value))
                                         : items_delete(key, key_length);
    reply(c->from, c->number, answer, strlen(answer), false);
  }
}

static void *work(void *arg) {
  struct worker *me = arg;
  for (;;) {
    pthread_mutex_lock(&me->lock);
    while (me->count == 0) pthread_cond_wait(&me->more, &me->lock);
    const struct command c = me->waiting[me->first];
    me->first = (me->first + 1) % waiting_max;
    --me->count;
    pthread_cond_signal(&me->room);
    pthread_mutex_unlock(&me->lock);
    if (!c.text) return NULL;
    execute(&c);
    free(c.text);
  }
}

static void give(struct worker *to, struct command c) {
  pthread_mutex_lock(&to->lock);
  while (to->count == waiting_max) pthread_cond_wait(&to->room, &to->lock);
  to->waiting[(to->first + to->count++) % waiting_max] = c;
  pthread_cond_signal(&to->more);
  pthread_mutex_unlock(&to->lock);
}

static void wait_for_answers(struct client *c) {
  pthread_mutex_lock(&c->lock);
  while (c->open) pthread_cond_wait(&c->done, &c->lock);
  pthread_mutex_unlock(&c->lock);
}

// list and check. The stripes' locks keep other clients' commands out. Chunks that these have taken
// are in no chain yet.
static void send_all(struct client *to, bool list) {
  wait_for_answers(to);
  char *text = NULL;
  size_t n = 0;
  FILE *lines = open_memstream(&text, &n);
  unsigned char *seen = items_marks();
  const char *wrong = NULL;
  for (unsigned s = 0; s < items_stripes; ++s) pthread_mutex_lock(&items.stripe[s]);
  const long count = items_walk(list ? lines : NULL, seen, &wrong);
  for (unsigned s = items_stripes; s-- > 0;) pthread_mutex_unlock(&items.stripe[s]);
  free(seen);
  if (wrong)
    fprintf(lines, "%s\n", wrong);
  else if (!list)
    fprintf(lines, "sound, %ld items\n", count);
  fclose(lines);
  pthread_mutex_lock(&to->lock);
  write_all(to->out, text, n);
  pthread_mutex_unlock(&to->lock);
  free(text);
}

static bool is_work(const char *line) {
  if (strncmp(line, "set ", 4) == 0) {
    const size_t key_length = strcspn(line + 4, " ");
    return key_length > 0 && line[4 + key_length] == ' ' && line[5 + key_length] != '\0';
  }
  return (strncmp(line, "get ", 4) == 0 || strncmp(line, "del ", 4) == 0) && line[4] != '\0' &&
         !strchr(line + 4, ' ');
}

// Until the client has no more to say. False: the server is to end.
static bool serve(struct client *me) {
  char *line = NULL;
  size_t room = 0;
  unsigned long number = 0;
  bool goes_on = true;
  for (ssize_t n; goes_on && (n = getline(&line, &room, me->in)) > 0;) {
    if (line[n - 1] == '\n') line[n - 1] = '\0';
    if (is_work(line)) {
      const uint64_t hash = items_hash(line + 4, strcspn(line + 4, " "));
      pthread_mutex_lock(&me->lock);
      ++me->open;
      pthread_mutex_unlock(&me->lock);
      give(&workers[(hash >> 32) % worker_count], (struct command){me, ++number, strdup(line)});
    } else if (strcmp(line, "list") == 0 || strcmp(line, "check") == 0) {
      send_all(me, *line == 'l');
    } else if (strcmp(line, "shutdown") == 0) {
      goes_on = false;
    } else {
      write_all(me->out, "what?\n", 6);
    }
  }
  wait_for_answers(me);
  free(line);
  return goes_on;
}

static void *serve_client(void *arg) {
  struct client *me = arg;
  if (!serve(me)) shutdown(listening, SHUT_RDWR);
  fclose(me->in);
  pthread_mutex_lock(&clients_lock);
  me->busy = false;
  pthread_cond_signal(&clients_left);
  pthread_mutex_unlock(&clients_lock);
  return NULL;
}

static struct client *free_client(void) {
  for (int i = 0; i < clients_max; ++i)
    if (!clients[i].busy) return &clients[i];
  return NULL;
}

static void listen_at(const char *name) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(name) >= sizeof address.sun_path) exit(2);
  strcpy(address.sun_path, name);
  unlink(name);
  listening = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listening < 0 || bind(listening, (struct sockaddr *)&address, sizeof address) != 0 ||
      listen(listening, clients_max) != 0) {
    perror(name);
    exit(2);
  }
  for (int fd; (fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) >= 0;) {
    pthread_mutex_lock(&clients_lock);
    struct client *c;
    while (!(c = free_client())) pthread_cond_wait(&clients_left, &clients_lock);
    c->busy = true;
    pthread_mutex_unlock(&clients_lock);
    c->out = fd;
    c->in = fdopen(fd, "r");
    if (!c->in || pthread_create(&c->thread, NULL, serve_client, c) != 0) exit(2);
    pthread_detach(c->thread);
  }
  pthread_mutex_lock(&clients_lock);
  for (int i = 0; i < clients_max; ++i)
    while (clients[i].busy) pthread_cond_wait(&clients_left, &clients_lock);
  pthread_mutex_unlock(&clients_lock);
  unlink(name);
}

int main(int argc, char **argv) {
  const struct arguments arguments = arguments_of(argc, argv);
  if (arguments.workers) worker_count = (unsigned)atoi(arguments.workers);
  if (worker_count == 0 || worker_count > workers_max) exit(2);
  signal(SIGPIPE, SIG_IGN);
  items_open(arguments.file, arguments.forget_flush);
  for (int i = 0; i < clients_max; ++i) {
    pthread_mutex_init(&clients[i].lock, NULL);
    pthread_cond_init(&clients[i].done, NULL);
  }
  for (unsigned i = 0; i < worker_count; ++i) {
    pthread_mutex_init(&workers[i].lock, NULL);
    pthread_cond_init(&workers[i].more, NULL);
    pthread_cond_init(&workers[i].room, NULL);
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) exit(2);
  }
  if (arguments.listen) {
    listen_at(arguments.listen);
  } else {
    clients[0].out = STDOUT_FILENO;
    clients[0].in = stdin;
    serve(&clients[0]);
  }
  for (unsigned i = 0; i < worker_count; ++i) give(&workers[i], (struct command){NULL, 0, NULL});
  for (unsigned i = 0; i < worker_count; ++i) pthread_join(workers[i].thread, NULL);
  items_close();
  return 0;
}
