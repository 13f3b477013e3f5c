import{e}from"./shared.js";var r="01e0daf36007ca10";function t(o){return e("h1",{children:"Answers"})}export{t as Page,r as build};
