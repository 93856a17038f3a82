/* guard.c: memory that is watched, for `opgen verify`. Loaded before the C library of a process
 * (LD_PRELOAD).
 *
 * While it is armed, each block from posix_memalign, aligned_alloc and memalign with an alignment
 * of 64 bytes or more lies on pages of its own: it ends, up to its alignment, where a page ends
 * that cannot be read, and so does the page before it. The bytes around it are marked, so that
 * writes to them are noticed, and its own bytes are filled. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096u
#define REGION ((size_t)8 << 30)
#define LARGEST ((size_t)1 << 30)
#define SMALLEST_ALIGNMENT 64u

typedef struct {
  unsigned char* start; /* of the pages that can be read */
  unsigned char* data;
  size_t readable;
  size_t bytes;
  unsigned char mark;
} Block;

static int (*real_posix_memalign)(void**, size_t, size_t);
static void* (*real_aligned_alloc)(size_t, size_t);
static void* (*real_memalign)(size_t, size_t);
static void (*real_free)(void*);
static void* (*real_realloc)(void*, size_t);
static size_t (*real_usable)(void*);

static unsigned char* region;
static size_t used;    /* bytes of the region that have been given away */
static Block** owners; /* the block of each page; its own memory, reserved */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int armed;
static volatile int fill_byte = 0xA5, mark_byte = 0xA5;
static volatile long live_blocks, live_bytes;

/* Shared with the process that watches this one: what a signal was about. */
static char* note;
static size_t note_size;
static unsigned char *own_start, *own_end; /* pages of arguments, which the watching code made */

static char violation[256];
static volatile int violations;

static void resolve(void) {
  if (real_free != NULL) return;
  real_posix_memalign = dlsym(RTLD_NEXT, "posix_memalign");
  real_aligned_alloc = dlsym(RTLD_NEXT, "aligned_alloc");
  real_memalign = dlsym(RTLD_NEXT, "memalign");
  real_realloc = dlsym(RTLD_NEXT, "realloc");
  real_usable = dlsym(RTLD_NEXT, "malloc_usable_size");
  real_free = dlsym(RTLD_NEXT, "free");
}

static int inside(const void* p) {
  return region != NULL && (const unsigned char*)p >= region &&
         (const unsigned char*)p < region + REGION;
}

static size_t page_of(const void* p) {
  return (size_t)((const unsigned char*)p - region) / PAGE;
}

/* Reserves the region. Returns 0 if there is no room for it. */
static int reserve(void) {
  if (region != NULL) return 1;
  void* made = mmap(NULL, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) return 0;
  void* table = mmap(NULL, REGION / PAGE * sizeof(Block*), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (table == MAP_FAILED) return 0;
  owners = table;
  region = made;
  used = PAGE;
  return 1;
}

static void* guarded(size_t bytes, size_t alignment) {
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  const size_t readable = rounded == 0 ? PAGE : (rounded + PAGE - 1) / PAGE * PAGE;
  pthread_mutex_lock(&lock);
  if (!reserve()) {
    pthread_mutex_unlock(&lock);
    return NULL;
  }
  /* Pages are given away once, so that uses after a release are noticed; at the end it starts again
   * from the front, with the pages that no block has. */
  if (used + readable + PAGE > REGION) used = PAGE;
  for (size_t page = used / PAGE; page <= (used + readable) / PAGE; ++page) {
    if (owners[page] != NULL) {
      used = (page + 1) * PAGE;
      if (used + readable + PAGE > REGION) {
        pthread_mutex_unlock(&lock);
        return NULL;
      }
      page = used / PAGE - 1;
    }
  }
  unsigned char* start = region + used;
  used += readable + PAGE;
  Block* block = NULL;
  if (mprotect(start, readable, PROT_READ | PROT_WRITE) == 0 &&
      real_posix_memalign((void**)&block, 16, sizeof(Block)) == 0) {
    block->start = start;
    block->readable = readable;
    block->data = start + readable - rounded;
    block->bytes = bytes;
    block->mark = (unsigned char)mark_byte;
    for (size_t page = page_of(start); page <= page_of(start + readable); ++page)
      owners[page] = block;
  }
  pthread_mutex_unlock(&lock);
  if (block == NULL) return NULL;
  memset(start, block->mark, (size_t)(block->data - start));
  memset(block->data, fill_byte, bytes);
  memset(block->data + bytes, block->mark, (size_t)(start + readable - block->data) - bytes);
  __sync_fetch_and_add(&live_blocks, 1);
  __sync_fetch_and_add(&live_bytes, (long)bytes);
  return block->data;
}

/* Describes the first byte around a block that was written; returns 0 if there is none. */
static int is_damaged(const Block* block, char* text, size_t size) {
  for (const unsigned char* p = block->data; p-- > block->start;) {
    if (*p != block->mark) {
      snprintf(text, size, "byte %ld before a storage of %zu bytes", (long)(block->data - p),
               block->bytes);
      return 1;
    }
  }
  const unsigned char* end = block->start + block->readable;
  for (const unsigned char* p = block->data + block->bytes; p < end; ++p) {
    if (*p != block->mark) {
      snprintf(text, size, "byte %ld behind a storage of %zu bytes",
               (long)(p - (block->data + block->bytes)) + 1, block->bytes);
      return 1;
    }
  }
  return 0;
}

static Block* block_at(const void* p) {
  Block* block = owners[page_of(p)];
  return block != NULL && block->data == p ? block : NULL;
}

static void let_go(void* p) {
  pthread_mutex_lock(&lock);
  Block* block = block_at(p);
  if (block != NULL) {
    if (violations == 0 && is_damaged(block, violation, sizeof violation)) violations = 1;
    for (size_t page = page_of(block->start); page <= page_of(block->start + block->readable);
         ++page)
      owners[page] = NULL;
    /* The pages are given back to the kernel; their addresses cannot be read from now on. */
    madvise(block->start, block->readable, MADV_DONTNEED);
    mprotect(block->start, block->readable, PROT_NONE);
    __sync_fetch_and_sub(&live_blocks, 1);
    __sync_fetch_and_sub(&live_bytes, (long)block->bytes);
    real_free(block);
  }
  pthread_mutex_unlock(&lock);
}

static int is_watched(size_t bytes, size_t alignment) {
  return armed && alignment >= SMALLEST_ALIGNMENT && alignment <= PAGE && bytes <= LARGEST;
}

/* What the C library has under these names. */

int posix_memalign(void** out, size_t alignment, size_t bytes) {
  resolve();
  if (is_watched(bytes, alignment)) {
    *out = guarded(bytes, alignment);
    return *out == NULL ? ENOMEM : 0;
  }
  return real_posix_memalign(out, alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) {
  resolve();
  if (is_watched(bytes, alignment)) return guarded(bytes, alignment);
  return real_aligned_alloc(alignment, bytes);
}

void* memalign(size_t alignment, size_t bytes) {
  resolve();
  if (is_watched(bytes, alignment)) return guarded(bytes, alignment);
  return real_memalign(alignment, bytes);
}

void free(void* p) {
  if (p == NULL) return;
  if (inside(p)) {
    let_go(p);
    return;
  }
  resolve();
  real_free(p);
}

void* realloc(void* p, size_t bytes) {
  resolve();
  if (p != NULL && inside(p)) {
    Block* block = block_at(p);
    void* moved = NULL;
    if (block == NULL || real_posix_memalign(&moved, SMALLEST_ALIGNMENT, bytes) != 0) return NULL;
    memcpy(moved, p, block->bytes < bytes ? block->bytes : bytes);
    let_go(p);
    return moved;
  }
  return real_realloc(p, bytes);
}

size_t malloc_usable_size(void* p) {
  resolve();
  if (p != NULL && inside(p)) {
    Block* block = block_at(p);
    return block == NULL ? 0 : block->bytes;
  }
  return real_usable(p);
}

/* What the watching code calls. */

void opgen_guard_arm(int on) {
  armed = on;
}
void opgen_guard_bytes(int fill, int mark) {
  fill_byte = fill;
  mark_byte = mark;
}
void* opgen_guard_allocate(size_t bytes) {
  resolve();
  if (armed && bytes <= LARGEST) return guarded(bytes, SMALLEST_ALIGNMENT);
  void* made = NULL;
  return real_posix_memalign(&made, SMALLEST_ALIGNMENT, bytes) == 0 ? made : NULL;
}
void opgen_guard_release(void* p) {
  free(p);
}
long opgen_guard_live_blocks(void) {
  return live_blocks;
}

/* Looks at all blocks. Copies a description of the first write beside one to `text`, and returns
 * whether there was one. */
int opgen_guard_check(char* text, size_t size) {
  int found = 0;
  pthread_mutex_lock(&lock);
  if (violations != 0) {
    snprintf(text, size, "%s", violation);
    violations = 0;
    found = 1;
  }
  for (size_t page = 1; region != NULL && page < used / PAGE;) {
    Block* block = owners[page];
    if (block == NULL) {
      ++page;
      continue;
    }
    if (!found) found = is_damaged(block, text, size);
    page = page_of(block->start + block->readable) + 1;
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static void on_signal(int number, siginfo_t* info, void* context) {
  const unsigned char* at = info->si_addr;
  const int own = at >= own_start && at < own_end;
  if (note != NULL && (own || inside(at))) {
    int writes = 0;
#if defined(__x86_64__)
    writes = (((ucontext_t*)context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
    (void)context;
#endif
    snprintf(note, note_size, "%s %s", writes ? "write" : "read",
             own ? "beside an argument" : "beside a tensor");
  }
  signal(number, SIG_DFL);
}

/* Lets a signal for a bad address leave a note in memory that is shared with another process.
 * `start` and `end` are the pages of the arguments. */
void opgen_guard_watch(char* shared, size_t size, void* start, void* end) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  note = shared;
  note_size = size;
  own_start = start;
  own_end = end;
  sigaction(SIGSEGV, &action, NULL);
  sigaction(SIGBUS, &action, NULL);
}
