import type { FaultRow } from './rows.ts'

/** What files, directories, disks and the machine under them do. */
export const faultsOfFiles: readonly FaultRow[] = [
  {
    id: 'F-FS-01',
    happens: 'a file changes while it is read',
    answer:
      'it is not sent; the run reads it once more after its settle time, and names it if it changes again; the daemon reads it again by itself',
    class: 'next scan',
    shownBy: {
      'local/read/hash-file.test.ts': [
        'a file is busy when a writer %s while it is hashed',
        'a file renamed over while it is hashed is busy',
      ],
      'local/read/read-verified.test.ts': ['a read ends incomplete when a writer %s'],
      'sync/upload/uploads.test.ts': ['a file that changes while it is sent (%s) stores nothing (P10)'],
      'journeys/changing-files.test.ts': [
        'a %s file that %s before its upload is read again and sent',
        'a file that changes again while it is sent is named and waits for the next run',
        'a daemon sends a file by itself that %s before its upload',
      ],
      'sync/continuous/mirror-observer.test.ts': ['a file that never settles is reported as busy until it does'],
    },
  },
  {
    id: 'F-FS-02',
    happens: 'a file vanishes while it is examined, read or sent',
    answer:
      'one that was not scanned yet is no problem; one that was is named by the run (exit 1); the next complete scan records it as removed',
    class: 'next scan',
    shownBy: {
      'local/scan/scan-directory.test.ts': [
        'a file that just vanished is left out',
        'a file that vanished and returned makes a scan incomplete',
      ],
      'local/read/read-verified.test.ts': ['a vanished file ends a read before any byte'],
      'journeys/changing-files.test.ts': ['a %s file that %s before its upload is named'],
    },
  },
  {
    id: 'F-FS-03',
    happens: 'a file may not be read (EACCES, EPERM)',
    answer: 'a problem of that file, reported by every run until it can be read; the others continue',
    class: 'operator',
    shownBy: {
      'sync/observe/odd-files.test.ts': ['an unreadable file (%s) is a problem, and keeps its record'],
      'local/read/open-guarded.test.ts': ['the system error %s of a file has its own code'],
    },
  },
  {
    id: 'F-FS-04',
    happens: 'a directory may not be listed',
    answer: 'a problem of that directory; everything below it is unknown and keeps its record in the store',
    class: 'operator',
    shownBy: {
      'sync/report/report.test.ts': ['a directory that cannot be read keeps its files in the store (P11)'],
      'local/scan/scan-directory.test.ts': ['a directory is never taken for empty after %s'],
    },
  },
  {
    id: 'F-FS-05',
    happens: 'the disk fails under a file (EIO)',
    answer: 'a problem of that file, which the next scan reads again; it is not sent, and its record stays',
    class: 'next scan',
    shownBy: {
      'sync/observe/odd-files.test.ts': ['an unreadable file (%s) is a problem, and keeps its record'],
      'local/read/hash-file.test.ts': ['a failing disk is an input error'],
      'local/read/read-verified.test.ts': ['a failing disk ends a read with an error'],
      'local/scan/scan-directory.test.ts': ['an entry that cannot be read is a problem'],
    },
  },
  {
    id: 'F-FS-06',
    happens: 'no descriptor is left (EMFILE, ENFILE)',
    answer:
      'no fault of the file: an upload waits for others to end; a file that still cannot be opened is busy, and the next scan tries it again',
    class: 'retry',
    shownBy: {
      'journeys/real-process.test.ts': ['too few descriptors damage nothing and repeat no upload'],
      'sync/observe/odd-files.test.ts': [
        'a process without free descriptors sends a little later',
        'a lasting lack of descriptors is a problem of each file',
      ],
      'local/read/open-guarded.test.ts': ['EMFILE is left to the caller to retry'],
      'local/scan/scan-directory.test.ts': ['a directory is never taken for empty after %s'],
    },
  },
  {
    id: 'F-FS-07',
    happens: 'a pipe, socket or device lies among the files',
    answer:
      'unsupported: counted, said once and listed by the report; fails nothing, and is never opened in a way that could block',
    class: 'accepted',
    shownBy: {
      'local/read/open-guarded.test.ts': ['pipes, sockets and directories never block'],
      'local/scan/scan-directory.test.ts': ['a scan skips links, loops, pipes, sockets, devices'],
      'journeys/unsendable.test.ts': [
        'a pipe, a socket and a device are counted and said, and fail nothing',
        'a pipe beside a file without rights leaves the file a failure',
        'a daemon is well beside a pipe, and says it once',
      ],
    },
  },
  {
    id: 'F-FS-08',
    happens: 'a symbolic link, also one that leads in a circle or nowhere',
    answer: 'left out, and shown by `why` and `report --only ignored`',
    class: 'accepted',
    shownBy: {
      'local/scan/scan-directory.test.ts': ['a scan skips links, loops, pipes, sockets, devices'],
      'journeys/hostile-names.test.ts': ['links and pipes are left out and never block'],
    },
  },
  {
    id: 'F-FS-09',
    happens: 'another file system is mounted inside the directory',
    answer: 'it belongs to the mirror, unless `oneFileSystem` is set: then it is left out and reported',
    class: 'accepted',
    shownBy: {
      'sync/observe/odd-files.test.ts': ['a disk mounted inside the directory belongs to it unless configured'],
      'local/scan/scan-directory.test.ts': ['a scan stays on one file system if configured'],
      'local/ignore/is-left-out.test.ts': ['a directory on another file system is left out'],
    },
  },
  {
    id: 'F-FS-10',
    happens: 'two names are hard links to one file',
    answer: 'two files with one content: sent once, and a change is found under both names',
    class: 'accepted',
    shownBy: {
      'sync/observe/odd-files.test.ts': ['hard links are two files with one content, sent once'],
      'journeys/hostile-names.test.ts': ['links and pipes are left out and never block'],
    },
  },
  {
    id: 'F-FS-11',
    happens: 'names that differ only in case or in how letters are composed (NFC, NFD)',
    answer: 'separate files, their names never normalised, and one warning from the scan that finds the new one',
    class: 'accepted',
    shownBy: {
      'rules/look-alikes.test.ts': ['names look alike by case and composition alone'],
      'sync/observe/odd-files.test.ts': ['names that look alike are separate files, with one warning'],
      'local/scan/scan-directory.test.ts': ['a scan keeps every hostile name unchanged'],
      'journeys/hostile-names.test.ts': ['hostile names are mirrored one by one and escaped'],
    },
  },
  {
    id: 'F-FS-12',
    happens: 'a name is not UTF-8',
    answer: 'a problem of that path, reported escaped, never lost in silence',
    class: 'operator',
    shownBy: {
      'local/scan/scan-directory.test.ts': ['a scan reports names that are not UTF-8'],
      'journeys/hostile-names.test.ts': ['names that are not UTF-8 are reported as problems'],
    },
  },
  {
    id: 'F-FS-13',
    happens: 'names of 255 bytes, with newlines, escapes, quotes or marks that reorder text',
    answer: 'accepted unchanged; escaped in terminal, log, CSV, HTML and multipart',
    class: 'accepted',
    shownBy: {
      'journeys/hostile-names.test.ts': ['hostile names are mirrored one by one and escaped'],
      'remote/wire/multipart.test.ts': [
        'a multipart body carries any file name through a parser',
        'a hostile name stays inside its quotes',
      ],
      'cli/run-cli.test.ts': ['an error cannot write to the terminal'],
    },
  },
  {
    id: 'F-FS-14',
    happens: 'a directory nests as deep as paths can be long',
    answer: 'walked without recursion; an entry whose path is too long to be opened is a problem',
    class: 'accepted',
    shownBy: {
      'sync/observe/odd-files.test.ts': ['a tree that is too deep is mirrored as far as it opens'],
    },
  },
  {
    id: 'F-FS-15',
    happens: 'a file is empty',
    answer: 'a content like others, or left out and reported with `emptyFiles: skip`',
    class: 'accepted',
    shownBy: {
      'local/scan/scan-directory.test.ts': ['a scan skips empty and large files if configured'],
      'journeys/hostile-names.test.ts': ['links and pipes are left out and never block'],
      'embedded/ingest/ingestion.test.ts': ['empty files complete'],
    },
  },
  {
    id: 'F-FS-16',
    happens: 'a file is huge or sparse',
    answer: 'hashed and sent piece by piece; over `maxSize` it is a problem with that reason',
    class: 'accepted',
    shownBy: {
      'local/read/read-verified.test.ts': [
        'a sparse file of 100 MiB leaves in small pieces',
        'a large file arrives with the usual limits',
      ],
      'journeys/unsendable.test.ts': ['a file over maxSize is a problem in summary, report and why'],
    },
  },
  {
    id: 'F-FS-17',
    happens: 'times go backwards, lie in the future, or stay as they were although the content changed',
    answer: 'any difference of size, times or inode counts; a file without proof is hashed again',
    class: 'accepted',
    shownBy: {
      'sync/observe/odd-files.test.ts': ['times %s hide no change and send nothing twice'],
      'rules/compare-directory.test.ts': ['the comparison believes only an equal and old fingerprint'],
    },
  },
  {
    id: 'F-FS-18',
    happens: 'a file is renamed over another of the same size and time',
    answer: 'the inode differs, so the file is hashed again',
    class: 'accepted',
    shownBy: {
      'sync/observe/odd-files.test.ts': ['times %s hide no change and send nothing twice'],
      'rules/compare-directory.test.ts': [
        'the digest of a directory differs when any one number differs',
        'the comparison believes only an equal and old fingerprint',
      ],
    },
  },
  {
    id: 'F-FS-19',
    happens: 'a file changes twice within two seconds',
    answer: 'a hash is proof only if it was taken two seconds after the newest time of the file',
    class: 'next scan',
    shownBy: {
      'rules/compare-directory.test.ts': ['a hash is proof only two seconds after the newest time'],
    },
  },
  {
    id: 'F-FS-20',
    happens: 'the system allows no more watches (ENOSPC of inotify)',
    answer: 'scans at intervals, and one message that names the setting to raise',
    class: 'next scan',
    shownBy: {
      'journeys/daemon-guards.test.ts': ['a reached limit of watches is logged once, and scans continue'],
      'local/watch/watch-limit.test.ts': [
        'node watches as many directories as the limit allows',
        '%s refuses at the limit with the setting to raise',
      ],
      'sync/continuous/mirror-observer.test.ts': ['scans come at intervals once watches run out'],
    },
  },
  {
    id: 'F-FS-21',
    happens: 'the queue of events overflows, which no system reports',
    answer: 'a burst of events counts as a loss and is followed by a scan; scans come at intervals besides',
    class: 'next scan',
    shownBy: {
      'local/watch/event-reporter.test.ts': ['a burst is reported as one loss', 'the end of a burst is never lost'],
      'local/watch/open-tree-watcher.test.ts': ['a burst is reported as a loss by %s'],
      'sync/continuous/mirror-observer.test.ts': ['ignore files, losses and limits cause a scan'],
    },
  },
  {
    id: 'F-FS-22',
    happens: 'the directory lies on a network file system, which reports no events',
    answer: 'every entry is polled, or a large tree scanned, at each pollInterval',
    class: 'next scan',
    shownBy: {
      'local/watch/choose-back-end.test.ts': [
        'the back end fits the file system %s',
        'a file system without a readable type is polled',
      ],
      'local/watch/chokidar-watcher.test.ts': [
        'polling by chokidar finds what the kernel does not report',
        'a tree too large for chokidar to poll is refused',
        'chokidar stops polling a tree that outgrows it',
      ],
      'local/watch/system-watch.test.ts': ['a file system of unknown kind is polled by chokidar'],
      'sync/continuous/mirror-observer.test.ts': ['scans come at intervals once a watcher has stopped'],
    },
  },
  {
    id: 'F-FS-23',
    happens: 'the disk of the state is full, or less than 64 MiB are free',
    answer:
      'nothing more is sent, and the command exits with 5 and names the disk; a daemon waits for space and continues by itself',
    class: 'retry',
    shownBy: {
      'journeys/full-disk.test.ts': [
        'a full disk of the state exits 5 and is named',
        'a full disk of the state holds a daemon until there is room',
        'a full disk of the library loses nothing and sends nothing twice',
      ],
      'embedded/storage/full-disk.test.ts': [
        'a full disk answers uploads of %i bytes with 507',
        'a full disk holds ingestion until it has room',
      ],
    },
  },
  {
    id: 'F-FS-24',
    happens: 'the machine sleeps and wakes',
    answer: 'connections are dropped, directories are checked and scanned, schedules catch up once',
    class: 'next scan',
    shownBy: {
      'daemon/heartbeat.test.ts': [
        'a sleep of the machine is reported before the next beat',
        'a sleep that both clocks counted is reported',
      ],
      'daemon/supervisor.test.ts': [
        'a supervisor that wakes checks and scans every directory',
        'a supervisor that wakes does not wait for a dead socket',
      ],
      'daemon/schedule/schedule.test.ts': ['one batch catches up at the check after a sleep'],
    },
  },
  {
    id: 'F-FS-25',
    happens: 'a directory is swapped for a link, or renamed, while it is walked or created',
    answer:
      'the directory is listed by a descriptor whose place in the mirror is proven, or it is unknown until the next scan',
    class: 'next scan',
    shownBy: {
      'local/scan/list-guarded.test.ts': [
        'a racer never gets an outside name listed',
        'a parent that leads outside is not listed',
      ],
      'sync/observe/swapped-directory.test.ts': ['no name from outside a mirror is recorded or made'],
      'local/scan/scan-directory.test.ts': [
        'a directory moved away meanwhile is unreadable',
        'a directory replaced meanwhile is unreadable or incomplete',
      ],
      'sync/directories/create-directories.test.ts': [
        'a directory that gets the id of one that vanished while the service created it is not taken for created',
      ],
    },
  },
  {
    id: 'F-FS-26',
    happens: 'an ignore rule is written to take endless time',
    answer: 'matched in linear time, with the same answers as git',
    class: 'accepted',
    shownBy: {
      'local/ignore/linear-matcher.test.ts': [
        'matching of %s ends despite many wildcards',
        'the linear matcher agrees with the regular expressions',
      ],
      'local/ignore/ignore-like-git.test.ts': ['the same line of an ignore file decides as in git'],
    },
  },
  {
    id: 'F-FS-27',
    happens: 'the disk of the state fails (EIO), may not be written, or its files cannot be opened',
    answer:
      'exit 78 with the directory and the cause, or 5 if it is full; the next run on a sound disk completes the work',
    class: 'operator',
    shownBy: { 'endurance/failing-writes.test.ts': ['a failing disk is named, and the next sync succeeds'] },
  },
]
