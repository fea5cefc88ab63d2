/* Records what a process does to the files below one folder, for the power-cut tests.

   Loaded with LD_PRELOAD. Every operation that changes a file or a folder below POWER_CUT_ROOT is carried out
   and appended to POWER_CUT_LOG under one lock that all processes share, so the log has the order in which the
   kernel saw them. What cannot be recorded is logged as '!', and the reader of the log fails.

   A record, in the machine's byte order: the struct below, then path, target, data. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

struct record {
    uint32_t kind, pid;
    uint64_t inode, offset;
    uint32_t path, target;
    uint64_t data;
};

static long (*raw)(long, ...);
static char root[PATH_MAX], log_path[PATH_MAX];
static size_t root_length;

static int ready(void) {
    if (!raw) {
        raw = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
        const char *folder = getenv("POWER_CUT_ROOT"), *log = getenv("POWER_CUT_LOG");
        if (folder && log && strlen(folder) < PATH_MAX && strlen(log) < PATH_MAX) {
            strcpy(root, folder);
            strcpy(log_path, log);
            root_length = strlen(root);
        }
    }
    return root_length > 0;
}

static int ends_in(const char *text, const char *end) {
    size_t length = strlen(text), wanted = strlen(end);
    return length >= wanted && strcmp(text + length - wanted, end) == 0;
}

/* SQLite's -shm is shared memory: nothing of it is needed after a power cut. */
static int concerns(const char *path) {
    return strncmp(path, root, root_length) == 0 && (path[root_length] == '/' || path[root_length] == 0) &&
           !ends_in(path, "-shm") && !ends_in(path, "-shm (deleted)");
}

static int path_of(int fd, char *path) {
    char name[64];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(name, path, PATH_MAX - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

static int fd_concerns(int fd) {
    char path[PATH_MAX];
    if (!ready() || fd < 0) return 0;
    int before = errno, found = path_of(fd, path) && concerns(path);
    errno = before;
    return found;
}

/* Without "//", "." and ".."; links are not looked at, since nothing of ours lies behind one. */
static void tidy(char *path) {
    char *to = path;
    for (char *from = path; *from;) {
        char *end = from + 1 + strcspn(from + 1, "/");
        size_t length = end - from;
        if (length == 3 && strncmp(from, "/..", 3) == 0)
            while (to > path && *--to != '/') {}
        else if (length > 1 && !(length == 2 && from[1] == '.')) {
            memmove(to, from, length);
            to += length;
        }
        from = end;
    }
    *to = 0;
}

/* The absolute path, if it concerns us. */
static int resolve(int folder, const char *path, char *full) {
    char base[PATH_MAX];
    if (!ready() || !path) return 0;
    int before = errno, found = 1;
    if (path[0] == '/')
        found = strlen(path) < PATH_MAX && strcpy(full, path);
    else {
        found = folder == AT_FDCWD ? getcwd(base, sizeof base) != NULL : path_of(folder, base);
        found = found && snprintf(full, PATH_MAX, "%s/%s", base, path) < PATH_MAX;
    }
    if (found) tidy(full);
    errno = before;
    return found && concerns(full);
}

static int lock(void) {
    int before = errno;
    int fd = raw(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || flock(fd, LOCK_EX)) abort();
    errno = before;
    return fd;
}

static void unlock(int fd) {
    int before = errno;
    flock(fd, LOCK_UN); /* not by closing: a fork may have copied the descriptor */
    close(fd);
    errno = before;
}

static void put(int fd, const void *data, size_t length) {
    while (length) {
        ssize_t written = raw(SYS_write, fd, data, length);
        if (written <= 0) abort();
        data = (const char *)data + written;
        length -= written;
    }
}

static void note(int fd, char kind, const char *path, const char *target, uint64_t inode, uint64_t offset,
                 const void *data, size_t length) {
    int before = errno;
    struct record record = {kind, getpid(), inode, offset, path ? strlen(path) : 0, target ? strlen(target) : 0, length};
    put(fd, &record, sizeof record);
    put(fd, path, record.path);
    put(fd, target, record.target);
    put(fd, data, length);
    errno = before;
}

static void unmodelled(const char *what) {
    int fd = lock();
    note(fd, '!', what, NULL, 0, 0, NULL, 0);
    unlock(fd);
}

/* For the tests' own programs: what was promised to somebody, at this point of the order. */
void power_cut_mark(const char *text) {
    if (!ready()) return;
    int fd = lock();
    note(fd, 'A', text, NULL, 0, 0, NULL, 0);
    unlock(fd);
}

/* --- opening --- */

static int open_file(int folder, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    struct stat status;
    int temporary = (flags & O_TMPFILE) == O_TMPFILE;
    if (!ready() || !(flags & (O_CREAT | O_TRUNC) || temporary) || !resolve(folder, path, full))
        return raw(SYS_openat, folder, path, flags, mode);
    if (temporary) unmodelled("open with O_TMPFILE");
    int log = lock(), before = errno;
    int existed = lstat(full, &status) == 0;
    errno = before;
    int fd = raw(SYS_openat, folder, path, flags, mode);
    if (fd >= 0) {
        off_t size = existed ? status.st_size : 0;
        fstat(fd, &status);
        if (!existed)
            note(log, 'C', full, NULL, status.st_ino, 0, NULL, 0);
        else if (flags & O_TRUNC && size > 0)
            note(log, 'T', NULL, NULL, status.st_ino, 0, NULL, 0);
    }
    unlock(log);
    return fd;
}

#define MODE(last) \
    mode_t mode = 0; \
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) { \
        va_list rest; \
        va_start(rest, last); \
        mode = va_arg(rest, mode_t); \
        va_end(rest); \
    }

int open(const char *path, int flags, ...) { MODE(flags) return open_file(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_file(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags) return open_file(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE(flags) return open_file(folder, path, flags, mode); }
int __open_2(const char *path, int flags) { return open_file(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_file(AT_FDCWD, path, flags, 0); }
int __openat_2(int folder, const char *path, int flags) { return open_file(folder, path, flags, 0); }
int __openat64_2(int folder, const char *path, int flags) { return open_file(folder, path, flags, 0); }
int creat(const char *path, mode_t mode) { return open_file(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open_file(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* The C library's own streams write past us. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void refuse_stream(const char *path, const char *mode) {
    char full[PATH_MAX];
    if (strpbrk(mode, "wa+") && resolve(AT_FDCWD, path, full)) unmodelled("a stream of the C library");
}

FILE *fopen(const char *path, const char *mode) { refuse_stream(path, mode); return NEXT(fopen)(path, mode); }
FILE *fopen64(const char *path, const char *mode) { refuse_stream(path, mode); return NEXT(fopen64)(path, mode); }

FILE *fdopen(int fd, const char *mode) {
    if (strpbrk(mode, "wa+") && fd_concerns(fd)) unmodelled("a stream of the C library");
    return NEXT(fdopen)(fd, mode);
}

static void refuse_template(const char *template) {
    char full[PATH_MAX];
    if (resolve(AT_FDCWD, template, full)) unmodelled("a name made by mkstemp or mkdtemp");
}

int mkstemp(char *template) { refuse_template(template); return NEXT(mkstemp)(template); }
int mkstemp64(char *template) { refuse_template(template); return NEXT(mkstemp64)(template); }
int mkostemp(char *template, int flags) { refuse_template(template); return NEXT(mkostemp)(template, flags); }
char *mkdtemp(char *template) { refuse_template(template); return NEXT(mkdtemp)(template); }

/* --- content --- */

static uint64_t inode_of(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

static off_t position(int fd) {
    struct stat status;
    if (fcntl(fd, F_GETFL) & O_APPEND) return fstat(fd, &status) == 0 ? status.st_size : 0;
    return lseek(fd, 0, SEEK_CUR);
}

ssize_t write(int fd, const void *data, size_t length) {
    if (!fd_concerns(fd)) return ready(), raw(SYS_write, fd, data, length);
    int log = lock();
    off_t offset = position(fd);
    ssize_t written = raw(SYS_write, fd, data, length);
    if (written > 0) note(log, 'W', NULL, NULL, inode_of(fd), offset, data, written);
    unlock(log);
    return written;
}

static ssize_t write_at(int fd, const void *data, size_t length, off_t offset) {
    if (!fd_concerns(fd)) return ready(), raw(SYS_pwrite64, fd, data, length, offset);
    int log = lock();
    if (fcntl(fd, F_GETFL) & O_APPEND) offset = position(fd); /* Linux appends all the same */
    ssize_t written = raw(SYS_pwrite64, fd, data, length, offset);
    if (written > 0) note(log, 'W', NULL, NULL, inode_of(fd), offset, data, written);
    unlock(log);
    return written;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) { return write_at(fd, data, length, offset); }
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t offset) { return write_at(fd, data, length, offset); }

static ssize_t write_parts(int fd, const struct iovec *parts, int count, off_t offset, int at) {
    if (!fd_concerns(fd))
        return ready(), at ? raw(SYS_pwritev, fd, parts, count, offset, 0) : raw(SYS_writev, fd, parts, count);
    size_t length = 0, done = 0;
    for (int i = 0; i < count; i++) length += parts[i].iov_len;
    char *all = malloc(length + 1);
    if (!all) abort();
    for (int i = 0; i < count; done += parts[i++].iov_len) memcpy(all + done, parts[i].iov_base, parts[i].iov_len);
    ssize_t written = at ? write_at(fd, all, length, offset) : write(fd, all, length);
    int before = errno;
    free(all);
    errno = before;
    return written;
}

ssize_t writev(int fd, const struct iovec *parts, int count) { return write_parts(fd, parts, count, 0, 0); }
ssize_t pwritev(int fd, const struct iovec *p, int n, off_t offset) { return write_parts(fd, p, n, offset, 1); }
ssize_t pwritev64(int fd, const struct iovec *p, int n, off64_t offset) { return write_parts(fd, p, n, offset, 1); }
ssize_t pwritev2(int fd, const struct iovec *p, int n, off_t offset, int flags) {
    if (flags && fd_concerns(fd)) unmodelled("pwritev2 with flags");
    return offset == -1 ? write_parts(fd, p, n, 0, 0) : write_parts(fd, p, n, offset, 1);
}

static int truncate_to(int fd, off_t length) {
    if (!fd_concerns(fd)) return ready(), raw(SYS_ftruncate, fd, length);
    int log = lock();
    int result = raw(SYS_ftruncate, fd, length);
    if (result == 0) note(log, 'T', NULL, NULL, inode_of(fd), length, NULL, 0);
    unlock(log);
    return result;
}

int ftruncate(int fd, off_t length) { return truncate_to(fd, length); }
int ftruncate64(int fd, off64_t length) { return truncate_to(fd, length); }

static int truncate_path(const char *path, off_t length) {
    char full[PATH_MAX];
    if (!resolve(AT_FDCWD, path, full)) return ready(), raw(SYS_truncate, path, length);
    int fd = open_file(AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
    if (fd < 0) return -1;
    int result = truncate_to(fd, length), before = errno;
    close(fd);
    errno = before;
    return result;
}

int truncate(const char *path, off_t length) { return truncate_path(path, length); }
int truncate64(const char *path, off64_t length) { return truncate_path(path, length); }

static int allocate(int fd, int mode, off_t offset, off_t length) {
    if (!fd_concerns(fd)) return ready(), raw(SYS_fallocate, fd, mode, offset, length);
    if (mode & ~FALLOC_FL_KEEP_SIZE) unmodelled("fallocate that changes content");
    int log = lock();
    int result = raw(SYS_fallocate, fd, mode, offset, length);
    if (result == 0 && mode == 0) note(log, 'E', NULL, NULL, inode_of(fd), offset + length, NULL, 0);
    unlock(log);
    return result;
}

int fallocate(int fd, int mode, off_t offset, off_t length) { return allocate(fd, mode, offset, length); }
int fallocate64(int fd, int mode, off64_t offset, off64_t length) { return allocate(fd, mode, offset, length); }
int posix_fallocate(int fd, off_t offset, off_t length) { return allocate(fd, 0, offset, length) ? errno : 0; }
int posix_fallocate64(int fd, off64_t offset, off64_t length) { return allocate(fd, 0, offset, length) ? errno : 0; }

/* Copying inside the kernel: read back what has come. */
static void note_copied(int log, int fd, off_t offset, size_t length) {
    char name[64], *data = malloc(length);
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    int before = errno, reading = raw(SYS_openat, AT_FDCWD, name, O_RDONLY | O_CLOEXEC, 0);
    if (!data || reading < 0 || pread(reading, data, length, offset) != (ssize_t)length) abort();
    close(reading);
    note(log, 'W', NULL, NULL, inode_of(fd), offset, data, length);
    free(data);
    errno = before;
}

static ssize_t send_file(int to, int from, off_t *offset, size_t length) {
    if (!fd_concerns(to)) return ready(), raw(SYS_sendfile, to, from, offset, length);
    int log = lock();
    off_t start = position(to);
    ssize_t sent = raw(SYS_sendfile, to, from, offset, length);
    if (sent > 0) note_copied(log, to, start, sent);
    unlock(log);
    return sent;
}

ssize_t sendfile(int to, int from, off_t *offset, size_t length) { return send_file(to, from, offset, length); }
ssize_t sendfile64(int to, int from, off64_t *offset, size_t length) { return send_file(to, from, offset, length); }

ssize_t copy_file_range(int from, off64_t *start, int to, off64_t *offset, size_t length, unsigned flags) {
    if (!fd_concerns(to)) return ready(), raw(SYS_copy_file_range, from, start, to, offset, length, flags);
    int log = lock();
    off_t at = offset ? *offset : position(to);
    ssize_t copied = raw(SYS_copy_file_range, from, start, to, offset, length, flags);
    if (copied > 0) note_copied(log, to, at, copied);
    unlock(log);
    return copied;
}

static void *map(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
    if (flags & MAP_SHARED && protection & PROT_WRITE && fd_concerns(fd)) unmodelled("a shared mapping to write to");
    ready();
    return (void *)raw(SYS_mmap, address, length, protection, flags, fd, offset);
}

void *mmap(void *a, size_t l, int p, int f, int fd, off_t o) { return map(a, l, p, f, fd, o); }
void *mmap64(void *a, size_t l, int p, int f, int fd, off64_t o) { return map(a, l, p, f, fd, o); }

/* --- names --- */

static int rename_file(int from, const char *old, int to, const char *new, unsigned flags) {
    char source[PATH_MAX], target[PATH_MAX];
    int left = resolve(from, old, source), right = resolve(to, new, target);
    if (!left && !right) return ready(), raw(SYS_renameat2, from, old, to, new, flags);
    if (!left || !right) unmodelled("a rename into or out of the recorded folder");
    if (flags & ~RENAME_NOREPLACE) unmodelled("renameat2 with flags");
    int log = lock();
    int result = raw(SYS_renameat2, from, old, to, new, flags);
    if (result == 0) note(log, 'R', source, target, 0, 0, NULL, 0);
    unlock(log);
    return result;
}

int rename(const char *old, const char *new) { return rename_file(AT_FDCWD, old, AT_FDCWD, new, 0); }
int renameat(int from, const char *old, int to, const char *new) { return rename_file(from, old, to, new, 0); }
int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    return rename_file(from, old, to, new, flags);
}

static int remove_name(int folder, const char *path, int flags) {
    char full[PATH_MAX];
    if (!resolve(folder, path, full)) return ready(), raw(SYS_unlinkat, folder, path, flags);
    int log = lock();
    int result = raw(SYS_unlinkat, folder, path, flags);
    if (result == 0) note(log, 'U', full, NULL, 0, 0, NULL, 0);
    unlock(log);
    return result;
}

int unlink(const char *path) { return remove_name(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return remove_name(folder, path, flags); }
int rmdir(const char *path) { return remove_name(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
    struct stat status;
    return lstat(path, &status) ? -1 : remove_name(AT_FDCWD, path, S_ISDIR(status.st_mode) ? AT_REMOVEDIR : 0);
}

static int make_folder(int folder, const char *path, mode_t mode) {
    char full[PATH_MAX];
    struct stat status;
    if (!resolve(folder, path, full)) return ready(), raw(SYS_mkdirat, folder, path, mode);
    int log = lock();
    int result = raw(SYS_mkdirat, folder, path, mode);
    if (result == 0 && lstat(full, &status) == 0) note(log, 'M', full, NULL, status.st_ino, 0, NULL, 0);
    unlock(log);
    return result;
}

int mkdir(const char *path, mode_t mode) { return make_folder(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { return make_folder(folder, path, mode); }

static int link_file(int from, const char *old, int to, const char *new, int flags) {
    char source[PATH_MAX], target[PATH_MAX];
    if (!resolve(to, new, target)) return ready(), raw(SYS_linkat, from, old, to, new, flags);
    if (!resolve(from, old, source)) unmodelled("a link to a file without a name in the recorded folder");
    int log = lock();
    int result = raw(SYS_linkat, from, old, to, new, flags);
    if (result == 0) note(log, 'L', source, target, 0, 0, NULL, 0);
    unlock(log);
    return result;
}

int link(const char *old, const char *new) { return link_file(AT_FDCWD, old, AT_FDCWD, new, 0); }
int linkat(int from, const char *old, int to, const char *new, int flags) { return link_file(from, old, to, new, flags); }

int symlinkat(const char *text, int folder, const char *path) {
    char full[PATH_MAX];
    if (resolve(folder, path, full)) unmodelled("a symbolic link");
    return ready(), raw(SYS_symlinkat, text, folder, path);
}

int symlink(const char *text, const char *path) { return symlinkat(text, AT_FDCWD, path); }

/* --- syncing --- */

static int sync_fd(int fd, long call) {
    if (!fd_concerns(fd)) return ready(), raw(call, fd);
    int log = lock();
    int result = raw(call, fd);
    if (result == 0) note(log, 'S', NULL, NULL, inode_of(fd), 0, NULL, 0);
    unlock(log);
    return result;
}

int fsync(int fd) { return sync_fd(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_fd(fd, SYS_fdatasync); }

int syncfs(int fd) {
    if (!fd_concerns(fd)) return ready(), raw(SYS_syncfs, fd);
    int log = lock();
    int result = raw(SYS_syncfs, fd);
    if (result == 0) note(log, 'Y', NULL, NULL, 0, 0, NULL, 0);
    unlock(log);
    return result;
}

/* sync_file_range promises nothing that survives a power cut: it is let through and not logged. */

/* --- what goes to the kernel past the functions above --- */

long syscall(long number, ...) {
    va_list rest;
    long a[6];
    char full[PATH_MAX];
    va_start(rest, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
    va_end(rest);
    ready();
    switch (number) {
    case SYS_write: case SYS_pwrite64: case SYS_writev: case SYS_pwritev: case SYS_pwritev2: case SYS_ftruncate:
    case SYS_fallocate: case SYS_fsync: case SYS_fdatasync:
        if (fd_concerns(a[0])) unmodelled("a change by syscall()");
        break;
    case SYS_copy_file_range:
        if (fd_concerns(a[2])) unmodelled("copy_file_range by syscall()");
        break;
    case SYS_renameat2: case SYS_linkat:
        if (resolve(a[2], (const char *)a[3], full)) unmodelled("a new name by syscall()");
        break;
    case SYS_unlinkat: case SYS_mkdirat: case SYS_openat2:
        if (resolve(a[0], (const char *)a[1], full)) unmodelled("a name by syscall()");
        break;
    case SYS_openat:
        if (a[2] & (O_CREAT | O_TRUNC) && resolve(a[0], (const char *)a[1], full)) unmodelled("openat by syscall()");
        break;
    case SYS_io_uring_setup:
        unmodelled("io_uring");
        break;
    }
    return raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* --- what uses no function at all ---

   Some libraries carry system calls of their own. With POWER_CUT_TRAP=1 those that change names are caught by the
   kernel and handed to the functions above, unless they come from the C library's syscall(), which we use ourselves.
   Such a process must not start other programs: they would be caught without anybody to hand it to. */

static long name_call(long number, const long *a) {
    switch (number) {
#ifdef SYS_rename
    case SYS_rename: return rename((const char *)a[0], (const char *)a[1]);
    case SYS_link: return link((const char *)a[0], (const char *)a[1]);
    case SYS_unlink: return unlink((const char *)a[0]);
    case SYS_rmdir: return rmdir((const char *)a[0]);
    case SYS_mkdir: return mkdir((const char *)a[0], a[1]);
#endif
#ifdef SYS_renameat
    case SYS_renameat: return renameat(a[0], (const char *)a[1], a[2], (const char *)a[3]);
#endif
    case SYS_renameat2: return renameat2(a[0], (const char *)a[1], a[2], (const char *)a[3], a[4]);
    case SYS_linkat: return linkat(a[0], (const char *)a[1], a[2], (const char *)a[3], a[4]);
    case SYS_unlinkat: return unlinkat(a[0], (const char *)a[1], a[2]);
    case SYS_mkdirat: return mkdirat(a[0], (const char *)a[1], a[2]);
    }
    errno = ENOSYS;
    return -1;
}

static void trapped(int signal, siginfo_t *info, void *context) {
    (void)signal;
    int before = errno;
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
#if defined(__x86_64__)
    greg_t *r = machine->gregs, *answer = &r[REG_RAX];
    long a[5] = {r[REG_RDI], r[REG_RSI], r[REG_RDX], r[REG_R10], r[REG_R8]};
#elif defined(__aarch64__)
    unsigned long long *r = machine->regs, *answer = &r[0];
    long a[5] = {r[0], r[1], r[2], r[3], r[4]};
#endif
    long result = name_call(info->si_syscall, a);
    *answer = result == -1 ? -errno : result;
    errno = before;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define CAUGHT(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)

__attribute__((constructor)) static void set_trap(void) {
    const char *wanted = getenv("POWER_CUT_TRAP");
    if (!ready() || !wanted || strcmp(wanted, "1") != 0) return;
    uint64_t from = (uint64_t)raw, to = from + 64; /* the C library's syscall() is shorter than that */
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO | SA_NODEFER};
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, from >> 32, 0, 4),
        LOAD(instruction_pointer),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)from, 0, 2),
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)to, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        LOAD(nr),
#ifdef SYS_rename
        CAUGHT(SYS_rename), CAUGHT(SYS_link), CAUGHT(SYS_unlink), CAUGHT(SYS_rmdir), CAUGHT(SYS_mkdir),
#endif
#ifdef SYS_renameat
        CAUGHT(SYS_renameat),
#endif
        CAUGHT(SYS_renameat2), CAUGHT(SYS_linkat), CAUGHT(SYS_unlinkat), CAUGHT(SYS_mkdirat),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (from >> 32 != to >> 32 || sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        unmodelled("the trap for system calls could not be set");
}
