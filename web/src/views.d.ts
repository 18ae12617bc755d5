// SPDX-License-Identifier: Apache-2.0
/** Every file of views/ (build.mjs). */
declare module 'all:views' {
  const views: import('./view').View[];
  export default views;
}
