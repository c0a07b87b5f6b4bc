import type { FaultRow } from './rows.ts'

/** What files, directories, disks and the machine under them do. */
export const faultsOfFiles: readonly FaultRow[] = [
  {
    id: 'F-FS-01',
    happens: 'a file changes while it is read',
    answer:
      'it is not sent; the run reads it once more after its settle time, and names it if it changes again; the daemon reads it again by itself',
    class: 'next scan',
  },
  {
    id: 'F-FS-02',
    happens: 'a file vanishes while it is examined, read or sent',
    answer:
      'one that was not scanned yet is no problem; one that was is named by the run (exit 1); the next complete scan records it as removed',
    class: 'next scan',
  },
  {
    id: 'F-FS-03',
    happens: 'a file may not be read (EACCES, EPERM)',
    answer: 'a problem of that file, reported by every run until it can be read; the others continue',
    class: 'operator',
  },
  {
    id: 'F-FS-04',
    happens: 'a directory may not be listed',
    answer: 'a problem of that directory; everything below it is unknown and keeps its record in the store',
    class: 'operator',
  },
  {
    id: 'F-FS-05',
    happens: 'the disk fails under a file (EIO)',
    answer: 'a problem of that file, which the next scan reads again; it is not sent, and its record stays',
    class: 'next scan',
  },
  {
    id: 'F-FS-06',
    happens: 'no descriptor is left (EMFILE, ENFILE)',
    answer:
      'no fault of the file: an upload waits for others to end; a file that still cannot be opened is busy, and the next scan tries it again',
    class: 'retry',
  },
  {
    id: 'F-FS-07',
    happens: 'a pipe, socket or device lies among the files',
    answer:
      'unsupported: counted, said once and listed by the report; fails nothing, and is never opened in a way that could block',
    class: 'accepted',
  },
  {
    id: 'F-FS-08',
    happens: 'a symbolic link, also one that leads in a circle or nowhere',
    answer: 'left out, and shown by `why` and `report --only ignored`',
    class: 'accepted',
  },
  {
    id: 'F-FS-09',
    happens: 'another file system is mounted inside the directory',
    answer: 'it belongs to the mirror, unless `oneFileSystem` is set: then it is left out and reported',
    class: 'accepted',
  },
  {
    id: 'F-FS-10',
    happens: 'two names are hard links to one file',
    answer: 'two files with one content: sent once, and a change is found under both names',
    class: 'accepted',
  },
  {
    id: 'F-FS-11',
    happens: 'names that differ only in case or in how letters are composed (NFC, NFD)',
    answer: 'separate files, their names never normalised, and one warning from the scan that finds the new one',
    class: 'accepted',
  },
  {
    id: 'F-FS-12',
    happens: 'a name is not UTF-8',
    answer: 'a problem of that path, reported escaped, never lost in silence',
    class: 'operator',
  },
  {
    id: 'F-FS-13',
    happens: 'names of 255 bytes, with newlines, escapes, quotes or marks that reorder text',
    answer: 'accepted unchanged; escaped in terminal, log, CSV, HTML and multipart',
    class: 'accepted',
  },
  {
    id: 'F-FS-14',
    happens: 'a directory nests as deep as paths can be long',
    answer: 'walked without recursion; an entry whose path is too long to be opened is a problem',
    class: 'accepted',
  },
  {
    id: 'F-FS-15',
    happens: 'a file is empty',
    answer: 'a content like others, or left out and reported with `emptyFiles: skip`',
    class: 'accepted',
  },
  {
    id: 'F-FS-16',
    happens: 'a file is huge or sparse',
    answer: 'hashed and sent piece by piece; over `maxSize` it is a problem with that reason',
    class: 'accepted',
  },
  {
    id: 'F-FS-17',
    happens: 'times go backwards, lie in the future, or stay as they were although the content changed',
    answer:
      'any difference of size, times or inode counts; a file without proof is hashed again; a date in the future makes no file new, and none is hashed in each scan for it',
    class: 'accepted',
  },
  {
    id: 'F-FS-18',
    happens: 'a file is renamed over another of the same size and time',
    answer: 'the inode differs, so the file is hashed again',
    class: 'accepted',
  },
  {
    id: 'F-FS-19',
    happens: 'a file changes twice within two seconds',
    answer: 'a hash is proof only if neither time of the file is within two seconds of it',
    class: 'next scan',
  },
  {
    id: 'F-FS-20',
    happens: 'the system allows no more watches (ENOSPC of inotify)',
    answer: 'scans at intervals, and one message that names the setting to raise',
    class: 'next scan',
  },
  {
    id: 'F-FS-21',
    happens: 'the queue of events overflows, which no system reports',
    answer: 'a burst of events counts as a loss and is followed by a scan; scans come at intervals besides',
    class: 'next scan',
  },
  {
    id: 'F-FS-22',
    happens: 'the directory lies on a network file system, which reports no events',
    answer: 'it is scanned at each pollInterval; where the kind of file system is not known, a small tree is polled',
    class: 'next scan',
  },
  {
    id: 'F-FS-23',
    happens: 'the disk of the state is full, or less than 64 MiB are free',
    answer:
      'nothing more is sent, and the command exits with 5 and names the disk; a daemon waits for space and continues by itself',
    class: 'retry',
  },
  {
    id: 'F-FS-24',
    happens: 'the machine sleeps and wakes',
    answer: 'connections are dropped, directories are checked and scanned, schedules catch up once',
    class: 'next scan',
  },
  {
    id: 'F-FS-25',
    happens: 'a directory is swapped for a link, or renamed, while it is walked or created',
    answer:
      'the directory is listed by a descriptor whose place in the mirror is proven, or it is unknown until the next scan',
    class: 'next scan',
  },
  {
    id: 'F-FS-26',
    happens: 'an ignore rule is written to take endless time',
    answer: 'matched in linear time, with the same answers as git',
    class: 'accepted',
  },
  {
    id: 'F-FS-27',
    happens: 'the disk of the state fails (EIO), may not be written, or its files cannot be opened',
    answer:
      'exit 78 with the directory and the cause, or 5 if it is full; the next run on a sound disk completes the work',
    class: 'operator',
  },
  {
    id: 'F-FS-28',
    happens: 'a file is dated before 1677 or after 2262, or the database refuses its row for another reason',
    answer: 'the nearest date that can be kept counts; a row that is refused is a problem of its file alone',
    class: 'accepted',
  },
  {
    id: 'F-FS-29',
    happens: 'a file system uses all 64 bits of its inode numbers',
    answer: 'every number that is kept of a file is made by one function, so that no file is read again for it',
    class: 'accepted',
  },
  {
    id: 'F-FS-30',
    happens: 'a text that decides what is sent is in an encoding that cannot be decoded for certain',
    answer:
      'UTF-8 and, with its mark, UTF-16 are read; in any other an ignore file stops its directory, as an unreadable one does, and a configuration or secret is refused',
    class: 'operator',
  },
  {
    id: 'F-FS-31',
    happens: 'a network or FUSE mount does not answer',
    answer:
      'a mirror on it is named after 5 s and the others go on; only commands that work on it ask it; what must end ends; a daemon tries again by itself',
    class: 'retry',
  },
]
