/** The path in its mirror of the file `f`, which lies in the directory `d`. */
export const FILE_PATH = `iif(d.path = '', f.name, d.path || '/' || f.name)`
