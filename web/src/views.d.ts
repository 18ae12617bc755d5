// SPDX-License-Identifier: Apache-2.0
/** All files of views/ (build.mjs). */
declare module 'all:views' {
  const views: import('./view').View[];
  export default views;
}
